"""Judged sets with other references."""

import json

import pytest

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
