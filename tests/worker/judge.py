"""A program that judges: `judge.py FOLDER`. It notes each row before it answers, and where FOLDER/hold names a number,
it stands still at that row until it is killed."""

import json
import os
import sys
import threading
from pathlib import Path


def answer(row: dict) -> dict:
    if "output" in row:
        return {"score": float("good" in row["output"])}
    a, b = ("good" in row[side] for side in ("output_a", "output_b"))
    return {"a": 0.1 + 0.7 * (a > b), "tie": 0.1 + 0.7 * (a == b), "b": 0.1 + 0.7 * (a < b)}


def main(folder: Path) -> None:
    hold = folder / "hold"
    rows = [json.loads(line) for line in sys.stdin]
    for row in rows:
        identifier = row.pop("id")
        with (folder / "asked").open("a") as file:
            file.write(json.dumps(row) + "\n")
        if hold.exists() and len((folder / "asked").read_text().splitlines()) > int(hold.read_text()):
            (folder / "held").write_text(str(os.getpid()))
            threading.Event().wait()
        print(json.dumps({"id": identifier, **answer(row)}), flush=True)


if __name__ == "__main__":
    main(Path(sys.argv[1]))
