"""Tournaments of the small world, by people and by a judge without weights."""

import numpy as np
import pytest

from annotation.models import Job
from evaluator.models import ComparatorVersion, TrainingRun
from evaluator.roster import judge_of
from leaderboard import tasks
from leaderboard.models import Tournament
from leaderboard.tournaments import play
from leaderboard.tournaments.prediction_powered import Taught
from leaderboard.tournaments.start import start_tournament


def quiet(progress, message):
    pass


class Strict:
    """A judge that prefers the systems in the order of SCORES, ties Fine with Plain, and never sees a name."""

    def __init__(self, outputs):
        self.u = {o.pk: {"Person": 9, "Fine": 5, "Plain": 5, "Poor": 1}[o.system.name] for o in outputs}

    def outcomes(self, a, b):
        return np.sign([self.u[i] - self.u[j] for i, j in zip(a, b)]).astype(int)

    def probabilities(self, a, b):
        return np.array([[0.6, 0.1, 0.3]] * len(a))


def strict(version, outputs, report):
    return Strict(outputs)


@pytest.fixture
def version(world):
    return a_version(world)


def a_version(world) -> ComparatorVersion:
    """A version's row, without weights: these tests bring their own judge."""
    run = TrainingRun.objects.create(job=Job.objects.create(task="t", title="t"), criterion="Overall")
    version = ComparatorVersion.objects.create(
        name="talk-overall-1",
        run=run,
        criterion="Overall",
        snapshots=[],
        settings={},
        seed=0,
        code="1",
        metrics={"seconds": 1.0},
    )
    version.campaigns.add(world.campaign)
    return version


def by_people(campaign, **options) -> Tournament:
    return tasks.run(start_tournament(campaign, "people", foreground=True, **options).job_id)


def by_comparator(campaign, **options) -> Tournament:
    return play.play(start_tournament(campaign, "judge", _judge(campaign, options), foreground=True, **options), quiet, strict)


def calibrated(campaign, taught: Taught | None = None, **options) -> Tournament:
    return play.play(
        start_tournament(campaign, "corrected", _judge(campaign, options), foreground=True, **options), quiet, strict, taught
    )


def tallies(tournament) -> dict:
    return {r.system.name: (r.games, r.wins, r.ties, r.losses) for r in tournament.ratings.select_related("system")}


def _judge(campaign, options: dict):
    """The judge that is the version among the options, which goes."""
    version = options.pop("version", None)
    return version and judge_of(campaign, version)
