"""A program as a judge: what it is sent, what it may answer, and how it fails."""

import json
import shlex
import subprocess
import sys
import time

import numpy as np
import pytest

from core.errors import Refused
from evaluator.judges.program import ProgramJudge, ProgramPairJudge, run
from evaluator.judges.replies import Replies
from evaluator.judges.texts import Text, place_of
from tests.worker.test_serve_killed import alive, wait_until

TEXTS = [Text(("Hi", "How are you?"), "Fine."), Text(("Bye",), ""), Text(("Bye",), "See you é ☃\u2028soon")]
LENGTHS = """
import json, sys
rows = [json.loads(line) for line in sys.stdin]
for row in reversed(rows):
    print(json.dumps({"id": row["id"], "score": len(row["output"]) + 100 * len(row["references"]) + len(row["context"])}))
"""
FIRST = """
import json, sys
for line in sys.stdin:
    row = json.loads(line)
    longer = len(row["output_a"]) > len(row["output_b"])
    print(json.dumps({"id": row["id"], "a": 0.9 if longer else 0.6, "tie": 0.1, "b": 0.0 if longer else 0.3}))
"""


def program(code: str) -> str:
    return shlex.join([sys.executable, "-c", code])


def test_each_output_gets_its_score_in_whatever_order():
    judge = ProgramJudge(program(LENGTHS), {place_of(TEXTS[1]): ["See you."]})
    assert judge.utilities(TEXTS).tolist() == [5 + 2, 0 + 100 + 1, len(TEXTS[2].output) + 100 + 1]
    assert ProgramJudge(program(LENGTHS)).utilities([]).shape == (0,)


def test_what_scores_say_of_pairs():
    said = ProgramJudge("true").preferences(np.array([2.0, 1.0, 0.0]), np.array([1.0, 1.0, 1.0]))
    assert said.choices.tolist() == ["A", "tie", "B"] and said.swapped().choices.tolist() == ["B", "tie", "A"]


def test_pairs_are_asked_about_in_both_orders():
    """The program leans to the first side: 0.9 and 0.6 there; the mean of both orders does not."""
    long, short = Text(("Hi",), "a long answer"), Text(("Hi",), "no")
    judge = ProgramPairJudge(program(FIRST))
    said = judge.compare([long, short, short], [short, long, short])
    by_hand = np.array([(0.9 + 0.3) / 2, 0.1, (0.0 + 0.6) / 2])
    assert said.probabilities == pytest.approx(np.array([by_hand, by_hand[::-1], [0.45, 0.1, 0.45]]))
    assert said.choices.tolist() == ["A", "B", "tie"]


def answer(*lines: str) -> str:
    return program(f"import sys; sys.stdin.read(); print({chr(10).join(lines)!r})")


def row(**fields) -> str:
    return json.dumps(fields)


@pytest.mark.parametrize(
    ("command", "message"),
    [
        (answer(row(id="0", score=1), row(id="1", score=2)), "1 of 3 rows have no answer; the first has the id '2'"),
        (answer(row(id="0", score=1), row(id="7", score=2)), "line 2, field 'id': '7' was not asked for"),
        (answer(row(id="0", score=1), row(id="0", score=2)), "line 2, field 'id': '0' is answered twice"),
        (answer(row(id="0", score="good")), "line 1, field 'score': expected a number, found 'good'"),
        (answer(row(id="0", score=None)), "line 1, field 'score': is missing"),
        (answer('{"id": "0", "score": NaN}'), "line 1"),
        (answer(row(score=1)), "line 1, field 'id': is missing"),
        (answer("Loading the model"), "line 1: "),
        (program("import sys; sys.stdin.read()"), "is empty; at least one row was expected"),
        (program("import sys; sys.exit('no GPU here')"), "failed with status 1: no GPU here"),
        ("no-such-program --fast", "'no-such-program' cannot be started"),
        ("judge 'unfinished", "command cannot be read"),
        ("  ", "command is empty"),
    ],
)
def test_what_goes_wrong_is_named(command, message):
    with pytest.raises(Refused, match=message.replace("'", ".")) as refused:
        ProgramJudge(command).utilities(TEXTS)
    assert "\n" not in str(refused.value)


@pytest.mark.parametrize(
    ("p", "message"),
    [
        ({"a": 0.5, "tie": 0.5, "b": 0.5}, "field 'tie': a, tie and b add up to 1.5"),
        ({"a": -0.5, "tie": 0.5, "b": 1.0}, "field 'a': expected a probability from 0 to 1, found -0.5"),
        ({"a": 1.0, "b": 0.0}, "field 'tie': is missing"),
    ],
)
def test_probabilities_that_are_none(p, message):
    with pytest.raises(Refused, match=message):
        ProgramPairJudge(answer(row(id="0", **p))).compare(TEXTS[1:2], TEXTS[2:])


def test_nothing_is_read_by_a_shell(tmp_path):
    spared = tmp_path / "spared"
    with pytest.raises(Refused):
        ProgramJudge(f"true; touch {spared}").utilities(TEXTS)
    assert not spared.exists()


def test_a_program_that_takes_too_long_ends_with_its_children():
    code = "import subprocess, sys; subprocess.run([sys.executable, '-c', 'import time; time.sleep(60)'])"
    start = time.monotonic()
    with pytest.raises(Refused, match="took longer than 0.5 seconds"):
        run(program(code), b"", 0.5)
    assert time.monotonic() - start < 30  # the child held the pipe


def test_a_program_that_reads_nothing_may_answer():
    many = [Text(("Hi",), f"{i} " + "x" * 1000) for i in range(300)]  # more than a pipe holds
    code = "import json\nfor i in range(300): print(json.dumps({'id': str(i), 'score': i}))"
    assert ProgramJudge(program(code)).utilities(many).tolist() == list(range(300))


class TestKeptAnswers:
    """`asked` counts the rows that the program reads; it gives each output its length, and stops where `stop` is."""

    CODE = """
import json, pathlib, sys
folder = pathlib.Path(sys.argv[1])
for line in sys.stdin:
    row = json.loads(line)
    with (folder / "asked").open("a") as file:
        print(row["output"], file=file)
    if (folder / "stop").exists() and row["output"] == (folder / "stop").read_text():
        sys.exit("no more")
    print(json.dumps({"id": row["id"], "score": len(row["output"])}), flush=True)
"""

    @pytest.fixture
    def judge(self, tmp_path):
        script = tmp_path / "judge.py"
        script.write_text(self.CODE)
        return ProgramJudge(shlex.join([sys.executable, str(script), str(tmp_path)]), replies=Replies(None))

    def asked(self, folder) -> list[str]:
        return (folder / "asked").read_text().splitlines()

    def test_equal_rows_are_asked_once_and_known_ones_not_at_all(self, judge, tmp_path):
        texts = [Text(("Hi",), said) for said in ("a", "bb", "a", "ccc")]
        assert judge.utilities(texts).tolist() == [1, 2, 1, 3] and self.asked(tmp_path) == ["a", "bb", "ccc"]
        assert judge.utilities([*texts, Text(("Hi",), "dddd")]).tolist() == [1, 2, 1, 3, 4]
        assert judge.utilities([Text(("Ho",), "a")]).tolist() == [1]  # another context is another row
        assert self.asked(tmp_path) == ["a", "bb", "ccc", "dddd", "a"]

    def test_what_came_before_it_failed_is_kept(self, judge, tmp_path):
        (tmp_path / "stop").write_text("ccc")
        texts = [Text(("Hi",), said) for said in ("a", "bb", "ccc", "dddd")]
        with pytest.raises(Refused, match="status 1: no more"):
            judge.utilities(texts)
        (tmp_path / "stop").unlink()
        assert judge.utilities(texts).tolist() == [1, 2, 3, 4]
        assert self.asked(tmp_path) == ["a", "bb", "ccc", "ccc", "dddd"]

    def test_a_changed_program_is_asked_anew(self, judge, tmp_path):
        judge.utilities(TEXTS[:1])
        script = tmp_path / "judge.py"
        script.write_text(self.CODE.replace("len(", "-len("))
        assert judge.utilities(TEXTS[:1]).tolist() == [-len(TEXTS[0].output)]

    def test_of_a_program_that_breaks_a_rule_nothing_is_kept(self):
        replies = Replies(None)
        wrong = answer(row(id="0", score=1), row(id="1", score=2), row(id="0", score=3))
        with pytest.raises(Refused, match="answered twice"):
            ProgramJudge(wrong, replies=replies).utilities(TEXTS[:2])
        assert not replies._known


def test_it_ends_where_whoever_asks_it_is_killed(tmp_path):
    sleeper = program(
        f"import os, pathlib, time; pathlib.Path({str(tmp_path / 'pid')!r}).write_text(str(os.getpid())); time.sleep(99)"
    )
    code = f"from evaluator.judges.program import run; run({sleeper!r}, b'', 99)"
    asking = subprocess.Popen([sys.executable, "-c", code])
    wait_until(lambda: (tmp_path / "pid").exists() and (tmp_path / "pid").read_text(), 60)
    asking.kill()
    asking.wait()
    wait_until(lambda: not alive(int((tmp_path / "pid").read_text())), 30)
