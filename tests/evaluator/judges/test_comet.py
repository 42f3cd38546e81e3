"""COMET by its own command; here a stand-in with the same options and the same file of scores."""

import json
import sys

import numpy as np
import pytest

from core.errors import Refused
from evaluator.judges.comet import CometJudge
from evaluator.judges.texts import Referenced, Text

STAND_IN = """#!{python}
import argparse, json
p = argparse.ArgumentParser()
for option in ("-s", "-t", "-r", "--model", "--gpus", "--to_json"):
    p.add_argument(option)
p.add_argument("--quiet", action="store_true")
a = p.parse_args()
if a.model == "broken":
    raise SystemExit("broken requires -r/--references")
lines = lambda path: open(path, encoding="utf-8").read().splitlines()
rows = [dict(src=s, mt=t) for s, t in zip(lines(a.s), lines(a.t), strict=True)]
for row, ref in zip(rows, lines(a.r) if a.r else []):
    row["ref"] = ref
for row in rows[: 1 if a.model == "lazy" else None]:
    row["COMET"] = len(row["mt"]) + 100 * (row.get("ref") == row["src"])
if a.model == "lazy":
    rows = rows[:1]
json.dump({{a.t: rows}}, open(a.to_json, "w"))
"""


@pytest.fixture
def installed(tmp_path, monkeypatch):
    path = tmp_path / "comet-score"
    path.write_text(STAND_IN.format(python=sys.executable))
    path.chmod(0o755)
    monkeypatch.setenv("PATH", str(tmp_path), prepend=":")


TEXTS = [Referenced(("Hi", "you"), "a b", ("Hi you",)), Referenced(("Hi",), "line\nbreak", ("x",)), Referenced(("Hi",), "none")]


def test_it_scores_by_sources_translations_and_references(installed):
    judge = CometJudge("Unbabel/wmt22-comet-da")
    assert judge.utilities(TEXTS[:2]).tolist() == [103.0, 10.0]
    assert judge.settings == {"comet": "Unbabel/wmt22-comet-da"}
    assert judge.preferences(np.array([1.0]), np.array([2.0])).choices.tolist() == ["B"]


def test_an_output_without_the_reference_that_others_have_is_not_judged(installed):
    judge = CometJudge("wmt22-comet-da")
    human = Referenced(("Hi",), "by a person", ("x",), human=True)
    assert np.isnan(judge.utilities([*TEXTS, human])).tolist() == [False, False, True, True]
    assert judge.lacks(TEXTS[2]) == "it needs human-written references for the outputs" and judge.lacks(TEXTS[0]) == ""


def test_without_any_reference_a_model_judges_that_needs_none(installed):
    assert CometJudge("wmt22-cometkiwi-da").utilities([Text(("Hi",), "abc"), Text(("Hi",), "")]).tolist() == [3.0, 0.0]
    with pytest.raises(Refused, match="'comet-score' failed with status 1: broken requires -r/--references"):
        CometJudge("broken").utilities(TEXTS)
    with pytest.raises(Refused, match="scored 1 of 2 outputs"):
        CometJudge("lazy").utilities(TEXTS[:2])


def test_where_it_is_not_installed_that_is_said(monkeypatch, tmp_path):
    monkeypatch.setenv("PATH", str(tmp_path))
    with pytest.raises(Refused, match="comet-score is not on the PATH. Install unbabel-comet."):
        CometJudge("any").utilities(TEXTS)
    assert json.dumps(CometJudge("any").settings)
