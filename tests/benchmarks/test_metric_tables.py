"""The metrics' tables on a made-up set of five contexts, and the references of meaning representations."""

import json
import sys

import pytest

from benchmarks.metrics import emnlp17_references, tables
from benchmarks.metrics.judged_sets import read
from tests.evaluator.comparator.conftest import tiny_encoder  # noqa: F401

OUTPUTS = {"TGen": "x is a cheap restaurant .", "LOLS": "restaurant restaurant x", "WEN": "x is cheap ."}
SCORES = {"TGen": 6, "LOLS": 1, "WEN": 2}


def write(path, rows):
    path.write_text("\n".join(json.dumps(row) for row in rows), encoding="utf-8")
    return path


@pytest.fixture
def folder(tmp_path):
    contexts = [(f"bagel-{i:04}", f"inform(name='X',area=a{i})") for i in range(5)]
    outputs = [
        {"context_id": c, "context": [mr], "system": s, "output": o, "published": {"bleu4": SCORES[s] / 10}}
        for c, mr in contexts
        for s, o in OUTPUTS.items()
    ]
    ratings = [
        {"context_id": c, "system": s, "aspect": a, "scale": [1, 6], "annotator": "median-of-3", "score": SCORES[s]}
        for c, _ in contexts
        for s in OUTPUTS
        for a in ("quality", "naturalness", "informativeness")
    ]
    write(tmp_path / "emnlp17.outputs.jsonl", outputs)
    write(tmp_path / "emnlp17.ratings.jsonl", ratings)
    return tmp_path


def test_one_table_with_every_metric_that_can(folder, tiny_encoder, monkeypatch, capsys):  # noqa: F811
    names = {name: tables.METRICS[name] for name in ("rouge-l", "logprob", "perplexity", "reference-free")}
    monkeypatch.setattr(tables, "METRICS", names)
    monkeypatch.setattr(tables.TextEncoder, "load", classmethod(lambda cls, load=tables.TextEncoder.load: load(tiny_encoder)))
    references = [{"context_id": f"bagel-{i:04}", "references": ["x is a cheap restaurant ."]} for i in range(5)]
    given = write(folder / "references.jsonl", references)
    words = [str(folder), "--out", str(folder / "out"), "--set", "emnlp17", "--references", str(given)]
    monkeypatch.setattr(sys, "argv", ["tables", *words])
    tables.main()
    text = (folder / "out" / "emnlp17.md").read_text()
    rows = {
        line.split("|")[1].strip(): [cell.strip() for cell in line.split("|")[2:]] for line in text.splitlines() if "|" in line
    }
    assert rows["bleu4 as published"][:2] == ["15", "1.00 [1.00, 1.00]"]
    # rouge-l: 1, F1 of 1 of 3 and 5 words, F1 of 3 of 3 and 5 words: 1, 0.25, 0.75 against 6, 1, 2: by hand 0.866
    assert rows["rouge-l"][1].startswith("0.87")
    assert set(rows) > {"reference-free", "longer is better"} and "perplexity" not in rows
    assert "No row for `logprob`. It can judge none of these 15 outputs" in text
    assert "No row for `perplexity`. It needs a causal language model" in text
    capsys.readouterr()
    monkeypatch.setattr(tables, "build", lambda *args, **given: pytest.fail("a metric was asked twice"))
    tables.main()
    assert "rouge-l" in capsys.readouterr().out


def test_other_references_are_other_texts(folder):
    plain, more = read(folder, "emnlp17"), read(folder, "emnlp17", {"bagel-0001": ["x"]})
    assert plain.digest != more.digest and more.texts[3].references == ("x",) and more.texts[0].references == ()
    assert plain.scores[0] == pytest.approx([1, 1, 1]) and plain.scores[1] == pytest.approx([0, 0, 0])


def test_references_are_what_people_wrote_for_the_same_meaning(tmp_path):
    for name, rows in (
        ("hotel", [["?select(dogsallowed='yes';dogsallowed='no')", "dogs or none", "baseline"]]),
        (
            "restaurant",
            [
                [
                    "inform(name='red door cafe';goodformeal=lunch;address='1 bush street')",
                    "red door cafe is a place -s .",
                    "b",
                ],
                ["inform(address='1 bush street';goodformeal=lunch;name='red door cafe')", "eat there", "b"],
                ["inform_count(type=restaurant;count='2')", "there are 2 restaurant -s", "b"],
            ],
        ),
    ):
        (tmp_path / name).mkdir()
        for part in ("train", "valid", "test"):
            found = rows if part == "train" else []
            (tmp_path / name / f"{part}.json").write_text("# a comment\n" + json.dumps(found), encoding="utf-8")
    bagel = tmp_path / "bagel.txt"
    bagel.write_text(
        'FULL_DA = inform(name="Clowns",near="Avalon",area=riverside)\n'
        'ABSTRACT_DA = inform(name="X1",near="X2",area=riverside)\n'
        '-> "[name+X]X []is [near]near [near+X]X []by the [area+riverside]river.";\n',
        encoding="utf-8",
    )
    found = emnlp17_references.collected(tmp_path, bagel)
    of = lambda name, mr: emnlp17_references.of_output({"context_id": f"{name}-0001", "context": [mr]}, found)
    asked = "inform(name='red door cafe',good_for_meal=lunch,address='1 bush st')"
    assert of("sfres", asked) == ["red door cafe is a places.", "eat there"]
    assert of("sfres", "inform(type=restaurant,count='2')") == ["there are 2 restaurants"]
    assert of("sfhot", "select(dogs_allowed='yes or no')") == ["dogs or none"]
    assert of("bagel", "inform(name='X',near='X',area=riverside)") == ["x is near x by the river."]
    assert of("bagel", "inform(near='X',name='X',area=riverside)") == []  # another order is another row there
    with pytest.raises(ValueError, match="'hello' is no meaning"):
        of("sfres", "hello")
