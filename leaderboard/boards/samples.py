"""From a board down to the texts: where people and the comparator part, and a system's best and worst contexts."""

from django.db.models import Avg, Count, F

from annotation.models import Context, System
from annotation.outcome import Outcome
from annotation.questions import store
from leaderboard.models import ContextResult, OutputResult, Tournament

PER_PAGE = 25
BEST = 5  # contexts shown at each end


def contexts(tournament: Tournament):
    """ContextResults, those first on which the comparator and people part most."""
    found = ContextResult.objects.filter(tournament=tournament).select_related("context")
    return found.order_by(F("disagreement").desc(nulls_last=True), "-games", "context_id")


def outputs(tournament: Tournament, context: Context) -> list[OutputResult]:
    """What each system that played wrote there, people's favourite first, then the comparator's."""
    found = OutputResult.objects.filter(tournament=tournament, context=context)
    return list(
        found.select_related("output__checkpoint", "system").order_by(
            F("people").desc(nulls_last=True), F("comparator").desc(nulls_last=True), "system__name"
        )
    )


def scores(context: Context) -> dict[int, dict[str, dict]]:
    """{output id: {criterion: {mean, n}}} of every answer that counts, kept by the filter or not."""
    here = list(context.outputs.values_list("pk", flat=True))
    rows = store.rows_about(here)[0].order_by("criterion__position", "criterion_id")
    found: dict[int, dict[str, dict]] = {}
    for row in rows.values("output_id", "criterion__name", "criterion__position", "criterion_id").annotate(
        mean=Avg("value"), n=Count("pk")
    ):
        found.setdefault(row["output_id"], {})[row["criterion__name"]] = {"mean": row["mean"], "n": row["n"]}
    return found


def judgments(context: Context) -> list[dict]:
    """Every pair that was judged there: {a, b: system names, won, tied, lost: by a}."""
    here = list(context.outputs.values_list("pk", flat=True))
    rows = store.rows_about(here)[1].order_by("output_a_id", "output_b_id")
    columns = ("criterion_id", "output_a_id", "output_b_id", "output_a__system__name", "output_b__system__name", "choice")
    found: dict[tuple, dict] = {}
    column = {Outcome.A.value: "won", Outcome.TIE.value: "tied", Outcome.B.value: "lost"}
    for criterion, a, b, name_a, name_b, choice in rows.values_list(*columns):
        if criterion is not None:  # not asked of the database: SQLite would walk all judgments without a criterion
            continue
        pair = found.setdefault((a, b), {"a": name_a, "b": name_b, "won": 0, "tied": 0, "lost": 0})
        pair[column[choice]] += 1
    return list(found.values())


def best_and_worst(tournament: Tournament, system: System) -> tuple[list[OutputResult], list[OutputResult]]:
    """The contexts on which the system took the largest and the smallest share of the points; the board's judge decides."""
    share = "people" if tournament.basis == Tournament.Basis.PEOPLE else "comparator"
    found = OutputResult.objects.filter(tournament=tournament, system=system, **{f"{share}__isnull": False})
    found = found.select_related("context", "output").annotate(share=F(share))
    best: list[OutputResult] = list(found.order_by("-share", "context_id")[:BEST])
    shown = {row.pk for row in best}
    worst: list[OutputResult] = [row for row in found.order_by("share", "context_id")[: 2 * BEST] if row.pk not in shown]
    return best, worst[:BEST]
