"""Judged sets with other references, and the references of meaning representations."""

import json

import pytest

from benchmarks.metrics import emnlp17_references
from benchmarks.studies.judged_sets import read

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
