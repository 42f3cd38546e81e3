"""The papers' studies, each run by one command: `comparena reproduce STUDY`."""
