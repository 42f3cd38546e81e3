"""Each file that a campaign is exported as, imported into another campaign: the same rows, times, snapshot and files."""

import io
import json
from datetime import UTC, datetime

import pytest

from annotation.assessment.assess import assess
from annotation.campaigns.lifecycle import create_campaign
from annotation.checkpoints import of_newest_checkpoints
from annotation.data import export, importer
from annotation.models import Checkpoint, Context, LikertScore, Output, PairwiseJudgment, System
from core.errors import ImportRefused
from evaluator.judge_tables.imports import import_pairs_of

pytestmark = pytest.mark.django_db
SCALE = {"aspect": "Overall", "scale": [1, 5], "answered_at": "2026-03-01T10:00:00+01:00"}
SYSTEMS = ["Füchse", "=Summe", "Person"]


def rows(what: str, lines: list[dict], **how):
    return io.BytesIO("".join(json.dumps(line) + "\n" for line in lines).encode()), f"{what}.jsonl"


@pytest.fixture
def campaign():
    made = create_campaign(slug="there")
    outputs = [
        {
            "context_id": f"c{n}",
            "context": [{"role": "user", "content": f"Wie geht’s? {n}"}],
            "group": f"g{n // 2}",
            "system": name,
            "output": f"{name} sagt «{n}»\u2028",
            "references": ["Gut."] if n == 1 else [],
            "checkpoint": "step-7" if name == "Füchse" else None,
            "iteration": 7 if name == "Füchse" else None,
            "metadata": {"source": "blog"},
        }
        for n in range(4)
        for name in SYSTEMS
    ]
    importer.import_outputs(made, *rows("outputs", outputs), human_systems=["Person"])
    scores = [
        {
            **SCALE,
            "context_id": f"c{n}",
            "system": name,
            "checkpoint": "step-7" if name == "Füchse" else None,
            "annotator": who,
            "score": None if (n, who) == (3, "Zoë") else 1 + (n + len(name) + len(who)) % 5,
            "cannot_say": (n, who) == (3, "Zoë"),
            "reason": "-- knapp" if n == 2 else None,
            "seconds": 4.5,
            "simulated": who == "robot",
        }
        for n in range(4)
        for name in SYSTEMS
        for who in ("Zoë", "Bob", "robot")
    ]
    importer.import_scores(made, *rows("scores", scores))
    pair = {"context_id": "c0", "system_a": "=Summe", "system_b": "Person", "choice": "tie", "both_bad": True}
    judgments = [pair | {"annotator": "Bob", "answered_at": "2026-03-02T00:00:00Z", "reason": "Beide nicht."}]
    importer.import_judgments(made, *rows("judgments", judgments))
    marked = {
        "context_id": "c0",
        "system": "Person",
        "annotator": "Bob",
        "aspect": "Fehler",
        "answered_at": "2026-03-01T09:00:00Z",
    }
    marks = [{"start": 0, "end": 6, "severity": "major", "category": "Fluency/Spelling"}]
    importer.import_file(made, "spans", *rows("spans", [marked | {"errors": marks}]))
    judged = [{"context_id": "c0", "system": name, "judge": "LLM", "score": len(name) / 3} for name in SYSTEMS[1:]]
    importer.import_judges(made, "judge_scores", *rows("judge_scores", judged))
    import_pairs_of(made, "Paare", *rows("judge_pairs", [pair | {"choice": None, "a": 0.2, "tie": 0.5, "b": 0.3}]))
    return made


def written(campaign, what: str, ending: str) -> bytes:
    found = export.exported_rows(campaign, what)
    lines = export.as_csv(found, what) if ending == "csv" else export.as_jsonl(found)
    return "".join(lines).encode()


@pytest.mark.parametrize("ending", ["jsonl", "csv"])
def test_all_files_of_a_campaign_make_the_same_campaign(campaign, ending):
    copy = create_campaign(slug="here")
    for what in export.files():
        assert written(campaign, what, ending).count(b"\n") >= 1 + (ending == "csv"), what
        done = importer.import_file(copy, what, io.BytesIO(written(campaign, what, ending)), f"{what}.{ending}")
        assert done.left_out == {} and done.unused == []
    for what in export.files():
        assert written(copy, what, ending) == written(campaign, what, ending), what
    assert assess(copy).digest == assess(campaign).digest
    assert System.objects.get(campaign=copy, is_human=True).name == "Person"
    context = Context.objects.get(campaign=copy, key="c1")
    assert context.metadata == {"source": "blog", "roles": ["user"]} and context.references.get().text == "Gut."
    moments = {str(m) for m in LikertScore.objects.filter(criterion__campaign=copy).values_list("created_at", flat=True)}
    assert moments == {"2026-03-01 09:00:00+00:00"}
    assert Output.objects.filter(context__campaign=copy, checkpoint__iteration=7).count() == 4


@pytest.mark.parametrize("moment, message", [("soon", "expected a time like"), ("2999-01-01", "lies in the future")])
def test_a_time_that_is_none_is_named(campaign, moment, message):
    row = SCALE | {"context_id": "c0", "system": "Person", "annotator": "Eve", "score": 3, "answered_at": moment}
    before = LikertScore.objects.count(), PairwiseJudgment.objects.count()
    with pytest.raises(ImportRefused, match=f"answered_at.*{message}"):
        importer.import_scores(campaign, *rows("scores", [row]))
    assert (LikertScore.objects.count(), PairwiseJudgment.objects.count()) == before


def test_a_choice_of_a_checkpoint_comes_along(campaign):
    """Step 7 plays although step 9 is newer; a file that knows nothing of the choice does not take it back."""
    newer = {"context_id": "c0", "system": "Füchse", "output": "neuer", "checkpoint": "step-9", "iteration": 9}
    importer.import_outputs(campaign, *rows("outputs", [newer]))
    assert not any("chosen_at" in row for row in export.exported_rows(campaign, "outputs"))
    moment = datetime(2026, 3, 2, 9, 30, tzinfo=UTC)
    Checkpoint.objects.filter(name="step-7").update(chosen_at=moment)
    for how in ("jsonl", "csv"):
        there = list(export.exported_rows(campaign, "outputs"))
        content = "".join(export.as_csv(there, "outputs")) if how == "csv" else "".join(json.dumps(r) + "\n" for r in there)
        other = create_campaign(slug=how)
        importer.import_outputs(other, io.BytesIO(content.encode()), f"outputs.{how}")
        chosen = Checkpoint.objects.filter(system__campaign=other).values_list("name", "chosen_at")
        assert dict(chosen) == {"step-7": moment, "step-9": None}
        played = of_newest_checkpoints(Output.objects.filter(context__campaign=other, system__name="Füchse"))
        assert {output.checkpoint.name for output in played} == {"step-7"}
        without = [{name: value for name, value in row.items() if name != "chosen_at"} for row in there]
        assert not importer.import_outputs(other, *rows("outputs", without)).new
        assert Checkpoint.objects.filter(system__campaign=other, chosen_at=moment).exists()
