"""What the fault run tells where a job gives something else than without faults."""

from benchmarks.load.job_results import difference, keep

GAME = b'{"row": "Game", "number": %d, "p_a": %s}\n'


def test_the_first_difference_is_told_with_both_values():
    before, after = (b"".join(GAME % (n, p) for n, p in enumerate(ps)) for ps in ((b"0.5", b"0.25"), (b"0.5", b"0.125", b"1")))
    assert difference(before, after) == "2 of 3 lines, first line 2: p_a 0.25 and 0.125"
    assert difference(before, before) == "none"
    assert difference(before, b"") == "2 of 2 lines, first line 1: row 'Game' and None, number 0 and None, p_a 0.5 and None"
    assert difference(b"\xff\x00", b"\xfe") == "1 of 1 lines, first line 1: 2 and 1 bytes"


def test_both_are_kept(tmp_path):
    keep({"tournament: games, ratings, outputs": b"a", "judging job: file": b"b"}, tmp_path / "under")
    kept = {path.name: path.read_bytes() for path in (tmp_path / "under").iterdir()}
    assert kept == {"tournament-games-ratings-outputs": b"a", "judging-job-file": b"b"}
