"""Tournaments and what came out of them."""

from leaderboard.models.frozen import Immutable
from leaderboard.models.results import ContextResult, Game, OutputResult, SystemRating
from leaderboard.models.tournament import Tournament

__all__ = ["ContextResult", "Game", "Immutable", "OutputResult", "SystemRating", "Tournament"]
