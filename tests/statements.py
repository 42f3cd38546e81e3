"""Which statements each test sends to the database, and the fewest tests that send them all.

A run on SQLite notes them. The run on PostgreSQL then repeats what sends each statement once, with each kind of error that the
database answered, and all tests that need transactions of their own or real processes. Tests of which nothing is noted are
repeated too. Files of which no test is repeated are not even read, unless they changed since.
"""

import json
import re
import time
from functools import lru_cache
from hashlib import blake2b
from pathlib import Path

from django.db.backends.signals import connection_created

ROOT = Path(__file__).parents[1]
NOTED = ROOT / ".pytest_cache" / "statements"
COLLECTED = NOTED / "collected.json"
LISTS = re.compile(
    r"(\((?:%s|NULL|DEFAULT)(?:, (?:%s|NULL|DEFAULT))*\))(?:, \((?:%s|NULL|DEFAULT)(?:, (?:%s|NULL|DEFAULT))*\))+"
)
PLACES = re.compile(r"%s(?:, %s)+")
CASES = re.compile(r"(?:WHEN .+? THEN (?:CAST\(.+?\)|%s) ?)+")
NUMBERS = re.compile(r"\b\d+\b|(?<=SAVEPOINT \")[^\"]+|(?<=SAVEPOINT )\S+")


class Statements:
    """What the tests of this process send, a line of `NOTED` each."""

    def __init__(self, process: str):
        NOTED.mkdir(parents=True, exist_ok=True)
        self.file = (NOTED / f"{process}.jsonl").open("w", encoding="utf-8")
        self.sent: set[str] = set()
        self.began, self.passed = 0.0, True  # one that was skipped, or failed, is not noted: it is repeated
        connection_created.connect(self._follow, weak=False)

    def begin(self) -> None:
        self.sent, self.began, self.passed = set(), time.process_time(), True

    def end(self, test: str) -> None:
        if not self.passed:
            return
        row = {"test": test, "seconds": time.process_time() - self.began, "sent": sorted(self.sent)}
        self.file.write(json.dumps(row) + "\n")
        self.file.flush()

    def _follow(self, connection, **_) -> None:
        if self._note not in connection.execute_wrappers:
            connection.execute_wrappers.append(self._note)

    def _note(self, execute, sql, params, many, context):
        answer = ""
        try:
            return execute(sql, params, many, context)
        except Exception as error:
            answer = type(error).__name__
            raise
        finally:
            self.sent.add(shape(str(sql)) + answer)


@lru_cache(maxsize=50_000)
def shape(statement: str) -> str:
    """The same for statements that differ in how many values they have."""
    same = NUMBERS.sub("N", PLACES.sub("%s", LISTS.sub(r"\1", CASES.sub("WHEN ", statement))))
    return blake2b(same.encode(), digest_size=6).hexdigest()


def noted() -> list[dict]:
    return [
        json.loads(line) for file in sorted(NOTED.glob("*.jsonl")) for line in file.read_text(encoding="utf-8").splitlines()
    ]


def note_collected(tests: list[tuple[str, bool, bool]]) -> None:
    """tests: (test, whether it is marked `database`, whether it is repeated in any case), of all files"""
    files = {test.partition("::")[0] for test, *_ in tests}
    ages = {file: (ROOT / file).stat().st_mtime_ns for file in sorted(files)}
    COLLECTED.write_text(json.dumps({"ages": ages, "tests": tests}), encoding="utf-8")


def not_repeated() -> set[Path]:
    """The files that the last run noted, and that have no test to repeat."""
    if not COLLECTED.exists():
        return set()
    known = json.loads(COLLECTED.read_text(encoding="utf-8"))
    marked = {test for test, database, _ in known["tests"] if database}
    chosen = covering(noted(), marked, {test for test, database, always in known["tests"] if database and always})
    files = {test.partition("::")[0] for test in chosen}
    paths = {ROOT / file: age for file, age in known["ages"].items() if file not in files}
    return {path for path, age in paths.items() if path.exists() and path.stat().st_mtime_ns == age}


def covering(rows: list[dict], tests: set[str], always: set[str]) -> set[str]:
    """Of `tests`: those of `always`, those of which nothing was noted, and as many more as send all that the others send. The
    next is the one that sends most that is new in a second."""
    rows = [row for row in rows if row["test"] in tests]
    left = {row["test"]: set(row["sent"]) for row in rows}
    always = always | tests - set(left)
    seconds = {row["test"]: max(row["seconds"], 0.02) for row in rows}
    done: set[str] = set()
    for test in always & set(left):
        done |= left.pop(test)
    chosen = set(always)
    while left:
        left = {test: new for test, sent in left.items() if (new := sent - done)}
        if left:
            best = max(left, key=lambda test: len(left[test]) / seconds[test])
            chosen.add(best)
            done |= left.pop(best)
    return chosen
