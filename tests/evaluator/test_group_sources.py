"""A campaign's groups of contexts on the way to those who learn from it: from rows to folds and intervals."""

import numpy as np
import pytest

from annotation.models import Context
from evaluator.judges.texts import kin_of
from evaluator.metaevaluation.card_figures import JudgedTexts
from evaluator.trainings import sources
from evaluator.worker.comparators import text_of
from evaluator.worker.judge_tables.material import material
from tests.evaluator.world import World

pytestmark = [pytest.mark.django_db, pytest.mark.one_database]


@pytest.fixture
def world(tmp_path) -> World:
    """Twelve contexts: three documents of three, a conversation of two turns whose group was taken back, and one by itself."""
    world = World(tmp_path)
    contexts = list(world.campaign.contexts.order_by("pk"))
    for n, context in enumerate(contexts):
        context.group = f"document {n // 3}" if n < 9 else ""
        context.metadata = {"conversation": "talk", "turn": n - 8, "turns": 2} if n in (9, 10) else {"conversation": "no turn"}
    Context.objects.bulk_update(contexts, ["group", "metadata"])
    return world


def test_groups_and_conversations_reach_folds_and_intervals(world):
    pk = world.campaign.pk
    known = material(world.campaign)
    of_context = {key[0]: text.group for key, text in zip(known.source.keys, known.texts)}
    assert sorted(of_context.values()) == sorted([f"{pk} document {n // 3}" for n in range(9)] + [f"{pk} talk"] * 2 + [""])
    assert of_context == {context.key: sources.text_in(context, "").group for context in world.campaign.contexts.all()}
    kin, folds = np.array(kin_of(known.texts)), np.array(known.training.folds)
    assert len(set(kin)) == 5 and all(len(set(folds[kin == one])) == 1 for one in kin) and len(set(folds)) == 5
    assert len(np.unique(known.people.units)) == 5 and len(np.unique(known.people.contexts)) == 12
    judged = JudgedTexts(known.source.texts, known.source.pairs, known.source.scores[:, 0])
    assert len(np.unique(judged.units)) == 5
    drawn = {tuple(sorted(set(known.people.units[judged.units == unit]))) for unit in np.unique(judged.units)}
    assert all(len(units) == 1 for units in drawn)  # the same units, by whatever way


def test_an_output_is_the_text_that_was_learnt_from(world):
    known = material(world.campaign)
    outputs = sources.outputs_of(known.snapshot, known.source.keys)
    for key, text in zip(known.source.keys, known.source.texts):
        again = text_of(outputs[key])
        assert (again, again.group, again.context_id) == (text, text.group, text.context_id)
