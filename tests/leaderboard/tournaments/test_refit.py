"""What a comparator says in a campaign that it did not learn from has the scale and the ties that were fitted there."""

import numpy as np
import pytest

from annotation.outcome import Outcome
from evaluator import tasks as training
from evaluator.judges.texts import Text
from evaluator.roster import judge_of
from evaluator.trainings.services import start_training
from evaluator.worker import comparators
from leaderboard import tasks
from leaderboard.models import Game
from leaderboard.signature import parse
from leaderboard.tournaments.start import start_tournament
from tests.evaluator.world import recipe
from tests.leaderboard.played import by_comparator

pytestmark = pytest.mark.django_db
REFIT = {"scale": 0.5, "theta": 0.2, "tie_threshold": 0.1, "snapshot": "0a1b2c3d4e5f", "pairs": 72}


@pytest.mark.parametrize("architecture", ["utility", "joint"])
def test_a_board_is_played_by_them(world, architecture):
    """By a comparator that learned who wrote what; P(A) after Rao & Kupper 1967."""
    chosen = recipe(epochs=1, human_scores=False, human_judgments=False, architecture=architecture)
    version = training.run(start_training([world.campaign], foreground=True, recipe=chosen).job_id)
    board = tasks.run(start_tournament(world.campaign, "judge", judge_of(world.campaign, version), foreground=True).job_id)
    refit = board.settings["refit"]
    assert (refit["pairs"], refit["snapshot"]) == (72, world.campaign.snapshots.get().name)
    assert parse(board.signature)["refit"].startswith(f"{refit['snapshot']}/72/{refit['scale']:.4g}/")
    games = list(Game.objects.filter(tournament=board).select_related("output_a__context", "output_b__context"))
    sides = [[Text(tuple(o.context.turns), o.text) for o in (g.output_a, g.output_b)] for g in games]
    comparator, a, b = comparators.load(version), [a for a, _ in sides], [b for _, b in sides]
    if architecture == "joint":
        p = comparator.compare(a, b).probabilities
        d = refit["scale"] * np.log(p[:, 0] / p[:, 2])
    else:
        d = refit["scale"] * (comparator.utilities(a) - comparator.utilities(b))
    expected = 1 / (1 + np.exp(refit["theta"] - d))
    assert [g.p_a for g in games] == pytest.approx(expected.tolist(), abs=1e-4)
    clear = np.abs(np.abs(d) - refit["tie_threshold"]) > 1e-4  # of the last digits that batches change
    ahead = np.where(d > 0, Outcome.A.value, Outcome.B.value)
    outcomes = np.where(np.abs(d) < refit["tie_threshold"], Outcome.TIE.value, ahead)
    assert np.array([g.outcome for g in games])[clear].tolist() == outcomes[clear].tolist() and len(games) > 0


def test_a_tournament_keeps_those_that_it_started_with(world, version):
    before = by_comparator(world.campaign, games=40)  # without any
    version.measured_here = {"talk": {"refit": REFIT}}
    version.save()
    tournament = start_tournament(world.campaign, "judge", judge_of(world.campaign, version), seed=1, foreground=True)
    assert tasks._refit(tournament) == REFIT
    version.measured_here = {"talk": {"refit": REFIT | {"pairs": 90}}}
    version.save()
    tournament.refresh_from_db()
    assert tasks._refit(tournament) == REFIT
    more = start_tournament(world.campaign, "judge", judge_of(world.campaign, version), seed=2, foreground=True, extends=before)
    assert tasks._refit(more) is None  # the games that it takes over were played without
