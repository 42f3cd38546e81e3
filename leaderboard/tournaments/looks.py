"""How often people's answers to a question were looked at, as they grew. A board that is made again of the same answers is
the same look; each look at more of them is another chance to be deceived."""

from __future__ import annotations

from leaderboard.models import Tournament


def look_of(tournament: Tournament, answers: int) -> int:
    """1 for the first board of people's answers to this question, and one more for each number of answers, other than this,
    that an earlier board of them rested on."""
    before = Tournament.objects.filter(
        campaign=tournament.campaign,
        criterion=tournament.criterion,
        basis=tournament.basis,
        finished_at__isnull=False,
        pk__lt=tournament.pk,
    ).exclude(snapshot=tournament.snapshot)
    counts = {(found.get("people") or {}).get("assessed") for found in before.values_list("findings", flat=True)}
    return 1 + len({count for count in counts if count} - {answers})
