"""Tournaments and what came out of them, and trainings that are watched."""

from leaderboard.models.frozen import Immutable
from leaderboard.models.results import ContextResult, Game, OutputResult, SystemRating
from leaderboard.models.runs import Run, RunCheckpoint, RunComparison, RunOutput
from leaderboard.models.tournament import Tournament

__all__ = [
    "ContextResult",
    "Game",
    "Immutable",
    "OutputResult",
    "Run",
    "RunCheckpoint",
    "RunComparison",
    "RunOutput",
    "SystemRating",
    "Tournament",
]
