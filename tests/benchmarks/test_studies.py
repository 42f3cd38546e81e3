"""The papers' studies on made-up sets, with tiny random models of each family; their figures by hand."""

import json

import numpy as np
import pytest

from benchmarks.studies import report, zhang
from benchmarks.studies.__main__ import main
from benchmarks.studies.study import Part, Table, run
from comparena import command

CRITERIA = {"Natural": [1, 3], "Overall": [1, 5]}
SYSTEMS = {"Original Ground Truth": 5, "New Human Generated": 4, "Nucleus": 2, "Argmax": 1}


@pytest.fixture(scope="module")
def data(tmp_path_factory):
    folder = tmp_path_factory.mktemp("data")
    for name in zhang.SETS:
        outputs, ratings = [], []
        for i in range(4):
            for system, score in SYSTEMS.items():
                said = f"it is {'good ' * score}here {i}"
                outputs.append({"context_id": f"c{i}", "context": ["hello", f"so {i}"], "system": system, "output": said})
                for aspect, (low, high) in CRITERIA.items():
                    given = {"context_id": f"c{i}", "system": system, "aspect": aspect, "scale": [low, high]}
                    ratings += [given | {"annotator": who, "score": min(score, high)} for who in ("a", "b")]
        for kind, rows in (("outputs", outputs), ("ratings", ratings)):
            (folder / f"{name}.{kind}.jsonl").write_text("\n".join(map(json.dumps, rows)), encoding="utf-8")
    return folder


def test_zhangs_grid_has_every_family_and_goes_on_where_it_stopped(data, tmp_path, monkeypatch, capsys):
    words = ["zhang", str(data), "--out", str(tmp_path), "--preset", "tiny"]
    monkeypatch.setattr("sys.argv", ["comparena", "reproduce", *words, "--part", "usr_topical_chat-encoder-tiny-bert"])
    with pytest.raises(SystemExit) as ended:
        command.main()
    assert ended.value.code == 0 and "1 of 1 parts to do" in capsys.readouterr().out
    assert main([*words, "--forecast"]) == 0
    said = capsys.readouterr().out
    assert "21 of 22 parts to do" in said and "Unavailable: DailyDialog-Eval" in said
    kept = tmp_path / "zhang-tiny-0" / "usr_topical_chat-encoder-tiny-bert.json"
    before = kept.stat().st_mtime_ns
    assert main(words) == 0 and kept.stat().st_mtime_ns == before
    text = (tmp_path / "zhang-tiny-0" / "report.md").read_text()
    assert "these numbers mean nothing" in text and "| BERT (paper) | 22.17 | 14.87 |" in text
    rows = {line.split("|")[1].strip() for line in text.split("by criterion, usr_persona_chat")[1].splitlines() if "|" in line}
    encoders = {f"{metric}, tiny-{m}" for metric in ("ESM", "CoSim") for m in ("bert", "simcse", "electra", "gpt", "xlnet")}
    assert encoders | {f"SLP, tiny-{m}" for m in ("bert", "roberta", "deberta", "electra", "gpt", "xlnet")} <= rows
    pooled = json.loads(kept.with_name("usr_topical_chat-encoder-tiny-simcse.json").read_text())["settings"]["esm"]
    assert pooled["vectors"] == "cls of the last layer"
    assert r"\begin{tabular}" in (tmp_path / "zhang-tiny-0" / "report.tex").read_text()


def test_the_original_reply_is_the_reference_and_is_not_judged(data):
    texts, scores = zhang.read(data, zhang.SETS[0], 3)
    assert len(texts) == 9 and {text.references for text in texts} == {
        (f"it is good good good good good here {i}",) for i in range(3)
    }
    assert scores["Overall"].tolist() == [4, 2, 1] * 3 and scores["Natural"].tolist() == [3, 2, 1] * 3


def test_averages_are_plain_means_over_criteria_and_sets():
    """(20 + 40) / 2 and (60 - 20) / 2 by set, the mean of all four by metric; an undefined one counts for nothing."""
    of = lambda name, a, b: {
        "model": "m",
        "set": name,
        "outputs": 9,
        "metrics": {"ESM": {"x": [a, 0.01], "y": [b, 0.2], "z": None}},
    }
    by_set, by_metric, first, _ = zhang.tables({"1": of(zhang.SETS[0], 0.2, 0.4), "2": of(zhang.SETS[1], 0.6, -0.2)})
    assert by_set.rows[0] == ["m", "30.00", "20.00"] and by_metric.rows[0] == ["m", "25.00", "", ""]
    assert first.rows == [["ESM, m", "20.0", "40.0*", ""]]
    assert zhang._spearman(np.array([1.0, 2, 3]), np.array([3.0, 1, 2]))[0] == pytest.approx(-0.5)  # 1 - 6 * 6 / (3 * 8)


def test_a_figure_and_its_numbers_are_written(tmp_path):
    table = Table("A < B", "about", ["model", "value"], [["a & b", "-0.50"]], {"a & b": -0.5, "c": 1.0})
    report.write(zhang, [table], "head", tmp_path)
    drawn = (tmp_path / "figure-1.svg").read_text()
    assert "A &lt; B" in drawn and drawn.count("<rect") == 2 and "-0.50" in drawn
    assert r"a \& b & $-$0.50" in (tmp_path / "report.tex").read_text()


def test_a_part_that_fails_leaves_those_before_it(tmp_path):
    parts = [Part("one", 0, lambda: {"value": 1}), Part("two", 0, lambda: 1 / 0)]
    with pytest.raises(ZeroDivisionError):
        run(zhang, parts, tmp_path, lambda line: None)
    assert json.loads((tmp_path / "one.json").read_text())["value"] == 1 and not (tmp_path / "two.json").exists()
