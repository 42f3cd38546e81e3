"""The papers' studies on made-up sets, with tiny random models of each family; their figures by hand."""

import json
import os
import shutil
from functools import partial
from itertools import combinations

import numpy as np
import pytest

from annotation.assessment.assess import assess
from annotation.data.importer import import_scores
from annotation.models import Campaign, Output
from benchmarks.studies import people_scores, report, runs, three_head, zhang, zhao, zhao_tables, zhou, zhou_tables
from benchmarks.studies.__main__ import main
from benchmarks.studies.study import Part, Table, keys, run, with_needs
from comparena import command
from tests.benchmarks import work
from tests.evaluator.fixtures import made_world, models_dir, world  # noqa: F401

SETS = ("usr_topical_chat", "usr_persona_chat", "grade_empathetic", "dailydialog_gupta", "dailydialog_zhao")
CRITERIA = {"Natural": [1, 3], "Overall": [1, 5], "coherence": [1, 5], "Relevance": [1, 5]}
SYSTEMS = {"Original Ground Truth": 5, "New Human Generated": 4, "Nucleus": 2, "Argmax": 1}


@pytest.fixture(scope="module")
def data(tmp_path_factory):
    """Outputs of four systems in six contexts of each set, which the number of their words tells apart; and conversations."""
    folder = tmp_path_factory.mktemp("data")
    for name in SETS:
        outputs, ratings = [], []
        for i in range(6):
            for system, score in SYSTEMS.items():
                system = "human" if (name, score) == ("dailydialog_gupta", 5) else system
                said = f"it is {'good ' * score}here {i}"
                row = {"context_id": f"c{i}", "context": ["hello", f"so {name} {i}"], "system": system, "output": said}
                outputs.append(row | {"references": [f"that is good {i}", f"good here {i}"]})
                for aspect, (low, high) in CRITERIA.items():
                    given = {"context_id": f"c{i}", "system": system, "aspect": aspect, "scale": [low, high]}
                    ratings += [given | {"annotator": who, "score": min(score, high)} for who in ("a", "b")]
        _write(folder / f"{name}.outputs.jsonl", outputs)
        _write(folder / f"{name}.ratings.jsonl", ratings)
    rated = [f"x is a cheap {'good ' * (i % 4)}place {i}" for i in range(40)]
    rows = [{"context_id": f"m{i}", "context": [f"inform({i})"], "system": "s", "output": said} for i, said in enumerate(rated)]
    _write(folder / "emnlp17.outputs.jsonl", rows)
    rows = [
        {"context_id": f"m{i}", "system": "s", "aspect": aspect, "scale": [1, 6], "annotator": "median", "score": 3 + i % 4}
        for i in range(40)
        for aspect in three_head.ASPECTS
    ]
    _write(folder / "emnlp17.ratings.jsonl", rows)
    talks = [[f"how are you {i}", f"i am well {i}", f"good to hear {i}", f"see you soon {i}"] for i in range(40)]
    rows = [{"dialogue_id": f"d{i}", "turns": talk, "references": [["fine"], [], []]} for i, talk in enumerate(talks)]
    _write(folder / "dailydialog_multiref.jsonl", rows)
    return folder


def test_the_papers_own_size_says_first_what_it_would_take(data, tmp_path, capsys):
    """Ten groups of five runs; by five seeds six comparators of the first set, one of two others; three metrics of each set."""
    words = ["zhou", str(data), "--out", str(tmp_path), "--preset", "paper", "--stand-in", "a-name-on-the-hub"]
    assert main([*words, "--forecast"]) == 0 and list(tmp_path.iterdir()) == []
    parts = 10 * 5 + 1 + (6 + 2) * 5 + 3 * 3
    minutes = 50 * 20 + 250 + 5 * (6 * 60 + 2 * 30) + 3 * (180 + 10 + 10)
    said = f"{parts} of {parts} parts to do, about {minutes} minutes on one core."
    assert said in capsys.readouterr().out


def _write(path, rows):
    path.write_text("\n".join(map(json.dumps, rows)), encoding="utf-8")


def test_zhangs_grid_has_every_family_and_goes_on_where_it_stopped(data, tmp_path, monkeypatch, capsys):
    words = ["zhang", str(data), "--out", str(tmp_path), "--preset", "tiny"]
    monkeypatch.setattr("sys.argv", ["comparena", "reproduce", *words, "--part", "usr_topical_chat-encoder-tiny-bert"])
    with pytest.raises(SystemExit) as ended:
        command.main()
    assert ended.value.code == 0 and "1 of 1 parts to do" in capsys.readouterr().out
    assert main([*words, "--forecast"]) == 0
    said = capsys.readouterr().out
    assert "21 of 22 parts to do" in said and "Unavailable: DailyDialog-Eval" in said
    (kept,) = (tmp_path / "zhang-tiny-0").glob("usr_topical_chat-encoder-tiny-bert.*.json")
    before = kept.stat().st_mtime_ns
    assert main(words) == 0 and kept.stat().st_mtime_ns == before
    text = (tmp_path / "zhang-tiny-0" / "report.md").read_text()
    assert "these numbers mean nothing" in text and "| BERT (paper) | 22.17 | 14.87 |" in text
    rows = {line.split("|")[1].strip() for line in text.split("by criterion, usr_persona_chat")[1].splitlines() if "|" in line}
    encoders = {f"{metric}, tiny-{m}" for metric in ("ESM", "CoSim") for m in ("bert", "simcse", "electra", "gpt", "xlnet")}
    assert encoders | {f"SLP, tiny-{m}" for m in ("bert", "roberta", "deberta", "electra", "gpt", "xlnet")} <= rows
    pooled = json.loads(next(kept.parent.glob("usr_topical_chat-encoder-tiny-simcse.*.json")).read_text())["settings"]["esm"]
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
    report.write("paper", [table], "head", [], tmp_path)
    drawn = (tmp_path / "figure-1.svg").read_text()
    assert "A &lt; B" in drawn and drawn.count("<rect") == 2 and "-0.50" in drawn
    assert r"a \& b & $-$0.50" in (tmp_path / "report.tex").read_text()


def test_a_part_that_fails_leaves_those_before_it(tmp_path):
    parts = [Part("one", 0, lambda found, place: {"value": 1}), Part("two", 0, lambda found, place: 1 / 0, {}, ["one"])]
    with pytest.raises(ZeroDivisionError):
        run(parts, tmp_path, lambda line: None)
    assert [json.loads(path.read_text())["value"] for path in tmp_path.glob("*.json")] == [1]


def test_parts_in_two_processes_give_what_they_give_in_one(tmp_path):
    """Six times seven in another process; what needs it waits for it."""
    product, summed = Part("product", 0, partial(work.multiplied, 6, 7)), Part("sum", 0, work.summed, {}, ["product"])
    parts, said = [product, summed, Part("one", 0, work.summed)], list[str]()
    two, one = run(parts, tmp_path / "two", said.append, workers=2), run(parts, tmp_path / "one", lambda line: None)
    assert [two[name]["value"] for name in ("product", "sum", "one")] == [42, 42, 0] == [one[name]["value"] for name in two]
    assert two["product"]["process"] != os.getpid() == one["product"]["process"] and len(said) == 3


def test_a_part_is_another_one_where_its_settings_or_those_that_it_needs_differ():
    one = lambda rate: Part("one", 0, dict, {"rate": rate})
    two = Part("two", 0, dict, {}, ["one"])
    first, again, other = (keys([one(rate), two]) for rate in (1, 1, 2))
    assert first == again and first["one"] != other["one"] and first["two"] != other["two"]
    assert with_needs([one(1), two, Part("three", 0, dict)], ["two"]) == [one(1), two]


@pytest.fixture(scope="module")
def zhous(data, tmp_path_factory):
    """What the command wrote after two stops."""
    folder = tmp_path_factory.mktemp("zhou")
    words = ["zhou", str(data), "--out", str(folder), "--preset", "tiny"]
    for part in ("stand-in", "dailydialog_gupta-wo-weak-supervision-0"):
        assert main([*words, "--part", part]) == 0
    assert main(words) == 0
    return words, folder / "zhou-tiny-0"


def test_zhous_tables_have_no_empty_row_and_name_the_stand_in(zhous):
    text, rows = (zhous[1] / "report.md").read_text(), _rows(zhous[1])
    tables = {part.partition("\n")[0]: part for part in text.split("## ")[1:]}
    ablated = rows["Table 5: what each part is worth"]
    assert set(zhou_tables.THEIRS_5) <= set(ablated) and all(cell for cells in ablated.values() for cell in cells)
    assert ablated["w/o weak supervision"][-2:] == ["0.728", "0.737"]
    chosen = rows["Table 3: what each metric chooses"]
    assert chosen["our approach"][4:] == ["8", "3.14", "9", "3.41"] and chosen["ADEM"][0].endswith(" of 3")
    for title in ("Table 2: by checkpoints, no people", "Table 3: what each metric chooses"):
        assert "tiny-electra, taught by the people of usr_topical_chat" in tables[title]
    assert len(rows["Table 4: three examples"]) == 5 and "Unavailable: Stories" in text


def test_a_part_says_the_same_in_another_folder(zhous, tmp_path):
    words, folder = zhous
    assert main([*words[:3], str(tmp_path), *words[4:], "--part", "lstm-1-1"]) == 0
    here, there = (next(p.glob("lstm-1-1.*.json")) for p in (folder, tmp_path / "zhou-tiny-0"))
    same = lambda path: {k: v for k, v in json.loads(path.read_text()).items() if k != "seconds"}
    assert here.name == there.name and same(here) == same(there)


@pytest.mark.django_db
def test_people_are_asked_by_a_campaign_and_the_study_goes_on_from_their_scores(zhous, tmp_path):
    """Two groups of three have no better model than 2, in one the last checkpoint of one training is 5: (5 + 2 + 2) / 3 are
    the best settings, (3.5 + 2 + 2) / 3 the mean ones; (5 + 5 * 2) / 6 and (2.75 + 5 * 2) / 6 of the checkpoints."""
    words, folder = zhous
    shutil.copytree(folder, tmp_path / folder.name)
    asked = [*words[:3], str(tmp_path), *words[4:], "--ask", "replies"]
    with pytest.raises(SystemExit, match="asks 3 people about each of 144 outputs"):
        main(asked)
    with pytest.raises(SystemExit, match="no snapshot with scores"):
        main(asked)
    campaign = Campaign.objects.get(slug="replies")
    outputs = Output.objects.filter(context__campaign=campaign).values_list("context__key", "system__name")
    given = {"annotator": "Ann", "aspect": "Overall"}
    rows = [given | {"context_id": c, "system": s, "score": 5 if s == "lstm-1-1@3" else 2} for c, s in outputs]
    _write(tmp_path / "scores.jsonl", rows)
    import_scores(campaign, tmp_path / "scores.jsonl")
    assess(campaign, level="interval")
    assert main(asked) == 0
    tables = _rows(tmp_path / folder.name)
    assert "Table 2: by checkpoints, by people's scores" in tables
    chosen = tables["Table 3: what each metric chooses"]
    assert chosen["the best"][:4] == ["", "3.00", "", "2.50"] and chosen["the mean of all"][:4] == ["", "2.50", "", "2.12"]
    assert "Judged by the annotators of campaign replies (1)." in (tmp_path / folder.name / "report.md").read_text()


def test_kappas_of_both_ways_by_hand():
    """Scores 1, 1 and 2, 1: (1/2 - 5/8) / (1 - 5/8). Each beats all later ones, but for the last two, over which two people
    differ: they agree on three of five outputs, and by chance on a fifth of them: (0.6 - 0.2) / (1 - 0.2)."""
    scores = {"x": {"p": 1, "q": 1}, "y": {"p": 2, "q": 1}, "z": {"p": 3}}
    ratings = [{"context_id": "c", "system": s, "annotator": w, "score": v} for s, of in scores.items() for w, v in of.items()]
    pairs = [{"context_id": "c", "a": a, "b": b} for a, b in combinations("vwxyz", 2)]
    wins = lambda pair, who: "B" if who == "q" and (pair["a"], pair["b"]) == ("y", "z") else "A"
    judgments = [pair | {"annotator": who, "choice": wins(pair, who)} for who in "pq" for pair in pairs]
    found = people_scores.both_ways(ratings, judgments)
    assert found == {"scored": [pytest.approx(-1 / 3), 2, 2], "compared": [pytest.approx(0.5), 5, 2]}
    assert people_scores.both_ways(ratings, judgments[1:])["compared"][1:] == [3, 2]  # two lack one of their four
    assert people_scores.both_ways([], judgments[:10]) == {"scored": None, "compared": None}
    (table,) = zhou_tables.tables({"both-ways": found})
    assert table.rows[1] == ["scored by comparing with four others", "0.500", "5", "2", "0.76"]


def test_what_a_metric_chooses_by_hand():
    """It takes b and c; b is the best of its field, c is not: one win of two, mean (4 + 1) / 2."""
    worth = {"a": 3.0, "b": 4.0, "c": 1.0, "d": 2.0}
    assert zhou_tables._chosen([{"a": 0, "b": 1, "c": 1, "d": 0}], [["a", "b"], ["c", "d"]], worth) == ["1 of 2", "2.50"]
    assert zhou_tables._chosen([{}], [["a", "b"]], worth) == ["", ""]


def test_random_settings_lie_in_the_stated_range_and_groups_share_an_architecture():
    size = zhou.SIZES["paper"]
    assert len(size.names) == 50 and {runs.group_of(name) for name in size.names[:5]} == {"lstm-1"}
    drawn = [runs.drawn(name, size, 0) for name in size.names]
    low, high = runs.RANGE["learning_rate"]
    assert all(low <= one.learning_rate <= high and 0 <= one.dropout <= 0.5 for one in drawn)
    assert len({one.learning_rate for one in drawn}) == 50 and runs.drawn("lstm-1-1", size, 0) == drawn[0]


def _rows(folder):
    """{title: {first cell: the others}} of a report"""
    parts = (folder / "report.md").read_text().split("## ")[1:]
    lines = {part.partition("\n")[0]: [line.split(" | ") for line in part.splitlines() if line[:2] == "| "] for part in parts}
    return {title: {cells[0][2:]: [*cells[1:-1], cells[-1][:-2]] for cells in of} for title, of in lines.items()}


def test_zhaos_tables_have_every_metric_noise_and_few_scores(data, tmp_path):
    assert main(["zhao", str(data), "--out", str(tmp_path), "--preset", "tiny"]) == 0
    rows = _rows(tmp_path / "zhao-tiny-0")
    first = rows["Table 1: referenced and not, dailydialog_gupta"]
    assert first["ruber"][6:] == ["0.37", "0.31", "0.67", "0.43", "0.41", "0.68"] and all(first["adem"])
    assert first["people"][2] == "1.58" and first["people"][5] == "1.25"  # of 5 4 2 1, and of 4 2 1
    learnt = rows["Table 3: all metrics, dailydialog_gupta"]
    assert {"bleu-2", "embedding-greedy", "adem", "ruber-semi-supervised", "reference-free-tuned"} < set(learnt)
    robust = rows["Appendix D and 6.3: noise, rounding, relevance, dailydialog_zhao"]
    assert all(f"noise of {sigma} on what it learns, 1 trainings" in robust for sigma in (0.1, 0.5))
    assert {line.split(",")[0] for line in rows["Table 4: in another set"]} > {"comparator", "ruber-unreferenced"}
    assert (
        "comparator" in rows["Figure 2: few scores, dailydialog_zhao"] and (tmp_path / "zhao-tiny-0" / "figure-1.svg").exists()
    )


def test_three_heads_have_accuracy_f1_and_memory(data, tmp_path, monkeypatch):
    monkeypatch.setattr("evaluator.metrics.networks.EPOCHS", 3)
    assert main(["three-head", str(data), "--out", str(tmp_path), "--preset", "tiny"]) == 0
    rows = _rows(tmp_path / "three-head-tiny-0")
    assert rows["Table 4: accuracy, encoder learning"]["quality"][4:] == ["67.66", "66.01"]
    shared, separate = (int(rows["Memory"][name][0].replace(",", "")) for name in ("shared", "separate"))
    # three times all but the heads' last layers: 3 (w + 64 + 1) against w + 3 (64 + 1), w being all that comes before
    assert separate - shared == 2 * (shared - 3 * 65)


@pytest.mark.django_db
def test_a_campaigns_own_scores_make_the_tables_that_they_allow(world, tmp_path):  # noqa: F811
    def made(study: str, *parts: str) -> dict:
        chosen = [word for part in parts for word in ("--part", part)]
        assert main([study, "--campaign", "talk", "--out", str(tmp_path), "--preset", "tiny", *chosen]) == 0
        return _rows(tmp_path / f"{study}-talk-tiny-0")

    rows = made("zhou")
    assert [title.split(":")[0] for title in rows] == ["Table 1", "Table 2", "Table 4", "Table 5"]
    assert rows["Table 1: by outputs, talk"]["our approach, its own score"][0]
    assert "Unavailable: Kappa of outputs judged in both ways" in (tmp_path / "zhou-talk-tiny-0" / "report.md").read_text()
    left_out = set(rows["Table 5: what each part is worth"])
    assert {"full model", "w/o comparison", "w/o human annotation"} < left_out and "w/o weak supervision" not in left_out
    rows = made("zhang", "talk-encoder-tiny-bert")
    assert rows["Table 2: by set, ESM and CoSim"]["BERT (paper)"] == [""] and rows["Table 3: by metric"]["tiny-bert"][0]
    rows = made("zhao", "talk-adem", "talk-bleu-2")
    assert rows["Table 3: all metrics, talk"]["adem"][3] == "0.34" and rows["Table 1: referenced and not, talk"]["adem"][0]
    rows = made("three-head", "frozen-0")
    assert set(rows["Table 5: F1, encoder frozen"]) == {"aspect", "---", "Overall"}
    with pytest.raises(SystemExit):
        main(["zhou", "--out", str(tmp_path)])


def test_zhaos_tables_stand_where_an_evaluator_gives_one_score_everywhere():
    """There is no correlation then; what is left of several draws says how many they are."""
    same, some = {"figures": {}, "sd": 0.0, "people_sd": 1.0, "outputs": 4}, [0.5, 0.1, 0.8, 0.01, 4]
    own = {"set": zhao_tables.OWN, "metric": zhao_tables.EVALUATOR, "utilities": [3.0] * 4, "people": [1.0, 2.0, 4.0, 5.0]}
    own |= {
        "all": same,
        "without_people": same,
        "rounded": {},
        "noise": {"0.1": zhao._noisy(np.full(4, 3.0), np.arange(4.0), 0.1)},
    }
    draws = [
        {"judge": "comparator", "asked": 100, "outputs": 9, "figures": figures}
        for figures in ({}, {n: some for n in zhao_tables.BOTH})
    ]
    found = {table.title.split(":")[0]: table for table in zhao_tables.tables({"own": own, "a": draws[0], "b": draws[1]})}
    assert [row[:3] for row in found["Appendix D and 6.3"].rows[:3]] == [
        ["as it is", "none", "none"],
        ["rounded to 1, 2, 3, 4, 5", "none", "none"],
        ["noise of 0.1 on what it is measured by, 100 seeds", "none", "none"],
    ]
    assert found["Figure 2"].rows[0][2:4] == ["2", "0.500 [0.10, 0.80] (p 0.010), of 1 of 2"]
