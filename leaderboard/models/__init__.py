"""Tournaments, what came out of them, and how a campaign shows its boards."""

from leaderboard.models.board import FormerName
from leaderboard.models.frozen import Immutable
from leaderboard.models.results import ContextResult, Game, OutputResult, SystemRating
from leaderboard.models.tournament import Tournament

__all__ = [
    "ContextResult", "FormerName", "Game", "Immutable", "OutputResult", "SystemRating", "Tournament",
]  # fmt: skip
