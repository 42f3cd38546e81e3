"""Two contexts that read alike are two: one question about two stories, told apart by the ids that the user gave."""

import numpy as np
import pytest

from annotation.assessment.assess import assess
from annotation.campaigns.lifecycle import create_campaign
from annotation.campaigns.protocol import CriterionSpec
from annotation.data.importer import import_outputs, import_scores
from annotation.models import Output
from core.errors import Refused
from evaluator.judges.protocol import AskedVerdicts, Preferences, pairs_of, verdicts_on
from evaluator.judges.texts import Referenced, Text, place_of, referenced
from evaluator.metrics.registry import build
from evaluator.models import Judge
from evaluator.trainings import sources
from evaluator.trainings.sources import referenced_outputs
from evaluator.worker import players
from evaluator.worker.comparators import text_of
from evaluator.worker.judge_tables.material import material
from tests.evaluator.world import write

pytestmark = [pytest.mark.django_db, pytest.mark.one_database]

QUESTION = ["What is the plot of the story?"]
SAID = {  # by story: the human reference, a good and a bad answer
    "fox": ("A fox steals grapes from a farmer.", "A fox steals grapes.", "It rains."),
    "sea": ("Two sailors find an island.", "It rains.", "Sailors find an island."),
}


@pytest.fixture
def campaign(tmp_path):
    made = create_campaign(slug="stories", title="Stories", criteria=[CriterionSpec("Overall")])
    rows, scores = [], []
    for story, (person, a, b) in SAID.items():
        for system, text in (("Person", person), ("A", a), ("B", b)):
            rows.append({"context_id": story, "context": QUESTION, "system": system, "output": text})
        for system, score in (("Person", 3), ("A", 5 if story == "fox" else 1), ("B", 1 if story == "fox" else 5)):
            scores += [
                {"context_id": story, "system": system, "aspect": "Overall", "annotator": who, "score": score}
                for who in ("Ann", "Bob")
            ]
    import_outputs(made, write(tmp_path, "outputs.jsonl", rows), human_systems=["Person"])
    import_scores(made, write(tmp_path, "scores.jsonl", scores))
    assess(made, None)
    return made


def outputs(campaign) -> list[Output]:
    found = Output.objects.filter(context__campaign=campaign).select_related("context", "system", "checkpoint")
    return list(found.order_by("context__key", "system__name"))


def test_a_text_of_two_contexts_is_of_each_of_them():
    fox, sea, nameless = (Text(tuple(QUESTION), "It rains.", context_id=name) for name in ("fox", "sea", ""))
    assert fox == sea == nameless  # a judge reads the same
    assert len({place_of(text) for text in (fox, sea, nameless)}) == 3
    assert place_of(nameless) == place_of(Text(("what is  the plot of the story?",), ""))
    assert place_of(fox) != place_of(Text(("Another question",), "It rains.", context_id="fox"))


def test_pairs_that_people_judged_are_of_one_story(campaign):
    source = sources.read(campaign.snapshots.get(), "Overall", False)
    met = {(*source.keys[pair.a][:2], *source.keys[pair.b][:2]): pair.choice for pair in source.pairs}
    assert len(met) == 6 and all(a == b for a, _, b, _ in met)
    assert met["fox", "A", "fox", "B"] == "A" and met["sea", "A", "sea", "B"] == "B"


def test_what_people_wrote_is_a_reference_of_its_story_alone(campaign):
    for text in referenced_outputs(campaign, outputs(campaign)):
        story = text.context_id.split()[1]
        assert text.references == (() if text.human else (SAID[story][0],))


def test_a_metric_measures_against_the_references_of_the_story(campaign):
    known = material(campaign)
    of_table = [text for text in known.texts if text.output == "It rains."]
    assert {text.references for text in of_table} == {(SAID["fox"][0],), (SAID["sea"][0],)}
    bleu = build("bleu-1").utilities(referenced_outputs(campaign, outputs(campaign)))
    found = {(o.context.key, o.system.name): u for o, u in zip(outputs(campaign), bleu)}
    alone = referenced([Text(tuple(QUESTION), "A fox steals grapes.")], [False], [[SAID["fox"][0]]])
    assert found["fox", "A"] == pytest.approx(build("bleu-1").utilities(alone)[0])
    assert found["fox", "B"] == found["sea", "A"] or found["fox", "B"] < found["fox", "A"]


class Recorder:
    kind, each_pair_costs = "pairwise", True

    def __init__(self):
        self.read: list[tuple[str, str]] = []

    def compare(self, texts_a, texts_b, *, on_progress=None) -> Preferences:
        self.read += [(a.context_id, b.context_id) for a, b in zip(texts_a, texts_b)]
        return Preferences.likeliest(np.tile([1.0, 0.0, 0.0], (len(texts_a), 1)))


@pytest.mark.parametrize("asked", [True, False])
def test_a_judge_of_pairs_is_asked_about_one_story_at_a_time(campaign, asked):
    texts = {output.pk: text_of(output) for output in outputs(campaign)}
    judge, ids = Recorder(), sorted(texts)
    if asked:
        verdicts = AskedVerdicts(judge, texts)
        pairs = [(i, j) for i in ids for j in ids if i < j and place_of(texts[i]) == place_of(texts[j])]
        verdicts.outcomes(*zip(*pairs))
        with pytest.raises(Refused, match="one context"):
            verdicts.outcomes([ids[0]], [ids[-1]])
    else:
        verdicts_on(judge, texts)
    assert len(judge.read) == 6 and all(a == b for a, b in judge.read)


def test_a_comparator_learns_within_a_story_and_its_folds_keep_equal_questions_together(campaign):
    source = sources.read(campaign.snapshots.get(), "Overall", False)
    texts, pairs = sources.supervise(source, campaign, strong=True, weak=False)
    places = [place_of(text) for text in texts]
    assert {pair.source for pair in pairs} == {"strong"} and len(pairs) == 4  # the person against A and B, in each story
    assert all(places[pair.a] == places[pair.b] for pair in [*source.pairs, *pairs])
    assert len(np.transpose(pairs_of(texts))) == 6


def test_a_judge_s_row_plays_with_them_apart(campaign):
    judge = Judge.objects.create(
        campaign=campaign, kind="metric", name="bleu-1", settings={"metric": "bleu-1"}, digest=Judge.digest_of("metric", {})
    )
    found = outputs(campaign)
    said = players.said_of(judge, found, campaign.snapshots.get(), "Overall")
    of = {(o.context.key, o.system.name): o.pk for o in found}
    assert said.verdicts.outcomes([of["fox", "A"], of["sea", "A"]], [of["fox", "B"], of["sea", "B"]]).tolist() == [1, -1]


def test_a_metric_that_learns_nothing_judges_fewer_contexts_than_there_are_folds():
    texts = [Referenced((f"context {i}",), "a b", ("a c",)) for i in range(3)]
    assert players.metric({"metric": "rouge-1"}, texts, None).utilities(texts).tolist() == [
        0.5,
        0.5,
        0.5,
    ]  # one word of two, both ways
