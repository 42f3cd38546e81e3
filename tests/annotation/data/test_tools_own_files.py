"""Files that the tools wrote themselves (tests/golden/SOURCES.md says how)."""

import json
from hashlib import sha256
from pathlib import Path

import pytest

from annotation.campaigns.lifecycle import create_campaign
from annotation.campaigns.protocol import CriterionSpec
from annotation.data.importer import import_file, import_outputs
from annotation.models import Annotator, Reference
from core.errors import ImportRefused
from evaluator.models import ImportedPair, ImportedScore
from tests.annotation.data.doors import everywhere, installation, outputs, scores

__all__ = ["installation"]
pytestmark = pytest.mark.django_db
TOOLS = Path(__file__).parents[2] / "golden" / "tools"


@pytest.fixture
def campaign(db):
    return create_campaign(slug="talk", criteria=[CriterionSpec("Quality", 1, 5)])


@pytest.mark.parametrize("name", ["inspect.eval", "inspect.json.gz"])
def test_inspect(campaign, name):
    done = import_outputs(campaign, TOOLS / name)
    asked = [(f"What is the capital of land {n}?",) for n in range(3)]
    said = ["City 0", "City 1", "City 9"]
    assert outputs(campaign) == [(f"q{n}", asked[n], "mockllm/model", said[n]) for n in range(3)]
    assert done.elsewhere == {"judge_scores": 6}
    done = import_file(campaign, "judge_scores", TOOLS / name)
    rows = ImportedScore.objects.values_list("judge__name", "output__context__key", "value")
    assert sorted(rows) == [(judge, f"q{n}", float(n < 2)) for judge in ("includes", "match") for n in range(3)]
    assert (done.rows, done.new["judge_scores"]) == (6, 6)


@pytest.mark.parametrize("name", ["promptfoo.json.gz", "promptfoo.jsonl.gz"])
def test_promptfoo(campaign, name):
    """Two prompts, two providers that say the prompt, two tests; the metric tone asks for "politely"."""
    done = import_outputs(campaign, TOOLS / name)
    templates = ("Say {{q}}", "Say {{q}} politely")
    said = {f"{who}, {template}": template for who in ("echo", "parrot") for template in templates}
    texts = {(q, system): template.replace("{{q}}", q) for q in ("milk", "tea") for system, template in said.items()}
    assert sorted(row[1:] for row in outputs(campaign)) == sorted(((q,), system, text) for (q, system), text in texts.items())
    assert done.elsewhere == {"judge_scores": 12}
    done = import_file(campaign, "judge_scores", TOOLS / name)
    rows = ImportedScore.objects.values_list("judge__name", "output__context__turns__0", "output__system__name", "value")
    tone = [("tone", "tea", system, float("politely" in system)) for system in said]
    overall = [("promptfoo", q, s, float(q == "milk" or "politely" in s)) for q, s in texts]
    assert sorted(rows) == sorted(tone + overall) and done.new["judge_scores"] == 12


def test_deepeval(campaign):
    """Three cases; the metric Length is the number of characters by ten, at most 1."""
    import_outputs(campaign, TOOLS / "deepeval.json")
    said = ["word " * (n + 1) for n in range(3)]
    assert sorted(row[1:] for row in outputs(campaign)) == [((f"Q{n}",), "mock", said[n]) for n in range(3)]
    assert list(Reference.objects.order_by("text").values_list("text", flat=True)) == ["R0", "R1", "R2"]
    import_file(campaign, "judge_scores", TOOLS / "deepeval.json")
    rows = ImportedScore.objects.values_list("judge__name", "output__text", "value")
    assert sorted(rows) == [("Length", text, min(1.0, len(text) / 10)) for text in said]


def judged(campaign) -> list[tuple]:
    rows = ImportedScore.objects.filter(judge__campaign=campaign)
    return sorted(rows.values_list("judge__name", "output__context__turns__0", "output__system__name", "value"))


def judged_pairs(campaign) -> list[tuple]:
    rows = ImportedPair.objects.filter(judge__campaign=campaign)
    names = ("output_a__context__turns__0", "output_a__system__name", "output_b__system__name", "p_a", "p_tie", "p_b")
    return sorted(rows.values_list("judge__name", *names))


CAPITALS = [f"What is the capital of land {n}?" for n in range(4)]
SUMS = [f"What is {n} plus 1?" for n in range(3)]


def test_lm_eval(installation):
    """The folder that one run wrote, zipped: its results beside three tasks. One asks for no text; one has two filters, of
    which strict-match finds the number and first-letter finds I."""
    file, system = str(TOOLS / "lm_eval.zip"), "acme__mock"
    rows, _, account = everywhere(installation, "outputs", file, outputs)
    said = [((q,), system, f"City {n}") for q, n in zip(CAPITALS, (0, 1, 9))]
    said += [((q,), system, f"I think the answer is {n}.") for q, n in zip(SUMS, (1, 2, 9))]
    assert sorted(row[1:] for row in rows) == sorted(said)
    assert (account["rows"], account["repeated"], sum(account["left_out"].values())) == (12, 3, 3)
    assert account["elsewhere"] == {"judge_scores": 9}
    assert set(Reference.objects.values_list("text", flat=True)) == {"City 0", "City 1", "City 2", "1", "2", "3"}


def test_lm_evals_metrics(installation):
    file, system = str(TOOLS / "lm_eval.zip"), "acme__mock"
    rows, _, _ = everywhere(installation, "judge_scores", file, judged, on=file)
    expected = [("exact_match", q, system, value) for q, value in zip(CAPITALS, (1.0, 1.0, 0.0))]
    expected += [("exact_match,strict-match", q, system, value) for q, value in zip(SUMS, (1.0, 1.0, 0.0))]
    assert rows == sorted(expected + [("exact_match,first-letter", q, system, 0.0) for q in SUMS])


def test_alpaca_evals_outputs(installation):
    rows, _, _ = everywhere(installation, "outputs", str(TOOLS / "alpaca_outputs.json"), outputs)
    said = ["City 0, which is large", "C 1", "Land 2 has none", "City 3"]
    assert sorted(row[1:] for row in rows) == [((q,), "bee", text) for q, text in zip(CAPITALS, said)]


def test_alpaca_evals_annotations(installation):
    """The annotator prefers the longer text with 0.75, says nothing of land 2, and is not asked of equal texts."""
    file = str(TOOLS / "alpaca_annotations.json")
    rows, _, account = everywhere(installation, "judge_pairs", file, judged_pairs, on=file)
    said = [(0.25, 0.0, 0.75), (0.75, 0.0, 0.25), (0.0, 1.0, 0.0)]
    assert rows == [("mock", q, "ape", "bee", *p) for q, p in zip([*CAPITALS[:2], CAPITALS[3]], said)]
    assert account["left_out"] == {"has no preference": 1} and account["elsewhere"] == {"outputs": 8}


@pytest.mark.parametrize("name", ["alpaca_ids.json", "alpaca_crossed.json"])
def test_alpaca_evals_ids(campaign, name):
    """q1 and q2 have one text. The tool writes the column idx of its inputs; where it was not told which outputs belong
    together, it compares each with each, and q1's with q2's is no comparison of two answers to one input."""
    crossed = 2 * (name == "alpaca_crossed.json")
    done = import_outputs(campaign, TOOLS / name)
    asked = {"q1": CAPITALS[0], "q2": CAPITALS[0], "q3": CAPITALS[1]}
    said = {"q1": "City 1, which is large", "q2": "C 2", "q3": "City 3, which is large"}
    ape = [(key, (q,), "ape", f"City {key[1:]}") for key, q in asked.items()]
    assert outputs(campaign) == sorted(ape + [(key, (q,), "bee", said[key]) for key, q in asked.items()])
    assert (done.rows, sum(done.left_out.values())) == (6 + 2 * crossed, 2 * crossed)
    assert any("A column context_id, question_id, id or idx says" in sentence for sentence in done.assumed)
    done = import_file(campaign, "judge_pairs", TOOLS / name)
    rows = ImportedPair.objects.values_list("output_a__context__key", "output_a__system__name", "p_a")
    assert sorted((key, p if system == "ape" else 1 - p) for key, system, p in rows) == [
        ("q1", 0.25),
        ("q2", 0.75),
        ("q3", 0.25),
    ]
    assert (done.new["judge_pairs"], sum(done.left_out.values())) == (3, crossed)


def test_alpaca_evals_ids_are_a_guess(campaign):
    """Which can be changed: by their text, q1 and q2 are one context, of which the systems have two outputs each."""
    with pytest.raises(ImportRefused, match="differs from the output that system 'ape' already has"):
        import_outputs(campaign, TOOLS / "alpaca_ids.json", columns={"context_id": ""})


@pytest.mark.parametrize("name", ["label_studio.csv", "label_studio_min.json"])
def test_label_studio(campaign, tmp_path, name):
    texts = tmp_path / "texts.jsonl"
    rows = [(f"c{n}", s) for n in (1, 2) for s in ("alpha", "beta")]
    about = [{"context_id": c, "context": c, "system": s, "output": f"{s} {c[1:]}"} for c, s in rows]
    texts.write_text("".join(json.dumps(row) + "\n" for row in about))
    import_outputs(campaign, texts)
    done = import_file(campaign, "scores", TOOLS / name)
    assert (done.rows, done.new["scores"], done.left_out) == (8, 8, {})
    assert [row[:3] + row[4:] for row in scores(campaign)] == [
        (c, s, "Quality", value) for c, s in rows for value in sorted_values(campaign, c)
    ]
    assert all(name.startswith("ls-") and "@" not in name for name in Annotator.objects.values_list("name", flat=True))


def sorted_values(campaign, context: str) -> list[float]:
    """(n + k) % 5 + 1 by annotator k, in the order of their pseudonyms."""
    people = {name: k for k, name in zip((1, 2), pseudonyms())}
    return [float((int(context[1:]) + people[name]) % 5 + 1) for name in sorted(people)]


def pseudonyms() -> list[str]:
    return [f"ls-{sha256(f'p{k}@example.org'.encode()).hexdigest()[:8]}" for k in (1, 2)]
