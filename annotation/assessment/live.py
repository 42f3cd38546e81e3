"""How a campaign is going: progress, distributions, times, agreement so far. A fixed number of queries, whatever its size.
Where there are many answers, pages show what a worker last made of them (`calculations.follow`)."""

from collections import Counter
from collections.abc import Mapping
from typing import Any

import numpy as np
from django.db.models import Count, Max, Q, Sum
from django.db.models.functions import Least

from annotation.answers import Filters, judgments, scores, submissions
from annotation.models import Annotator, Campaign, ItemReport, Purpose, Submission
from annotation.outcome import CODES
from annotation.quality.crossed import context_mean, of_whom
from annotation.quality.errors import UndefinedAgreement
from annotation.quality.krippendorff import Level, alpha, alpha_interval
from annotation.questions import registry, store
from annotation.questions.columns import RANKING
from annotation.questions.strength import degree

SECONDS = (0, 5, 10, 20, 40, 80)  # lower ends of the classes in which times are counted
TIMES_READ = 20_000  # the newest answers whose times are read
CLASSES, TENTHS, PEOPLE_SHOWN = 11, 10, 30  # of scores in a picture: points that have a bar's part each; else tenths; people
REPORTS = {"skips": ItemReport.Kind.SKIP, "flags": ItemReport.Kind.FLAG, "questions": ItemReport.Kind.ASK}
SIDES_IN_ORDER = ("left", "tie", "right")


def progress_figures(campaign: Campaign, **narrowed: Any) -> dict:
    """The page's figures, but those of single annotators; criteria and systems by their ids. narrowed: fields of Filters."""
    f = Filters(**narrowed)
    scored = score_figures(campaign, f, list(campaign.criteria.all()))
    return {
        "items": item_progress(campaign),
        "by_system": [{"system": pk, **row} for pk, row in system_progress(campaign).items()],
        "scores": [{**figure, "criterion": figure["criterion"].pk} for figure in scored],
        "pairs": pair_figures(campaign, f),
        "times": time_figures(campaign, f),
    }


def people_figures(campaign: Campaign) -> dict:
    """How many answers that count each annotator gave."""
    return {"counts": store.counts_by_person(campaign)}


def item_progress(campaign: Campaign) -> dict:
    """Items by how many people answered them or hold them now, and how far they are from full."""
    items = campaign.items.filter(purpose=Purpose.EVALUATION).order_by()
    counts = list(items.values_list("taken", "places").annotate(n=Count("pk")).order_by("taken", "places"))
    by_taken = Counter()
    for taken, _, n in counts:
        by_taken[taken] += n
    total = sum(by_taken.values())
    return {
        "total": total,
        "full": sum(n for taken, places, n in counts if taken >= places),
        "taken": sum(min(taken, places) * n for taken, places, n in counts),
        "places": sum(places * n for _, places, n in counts),
        "by_taken": [{"taken": taken, "items": n, "share": n / total} for taken, n in sorted(by_taken.items())],
    }


def system_progress(campaign: Campaign) -> dict[int, dict]:
    """By system: places on the items its outputs are in, and how many of them are taken."""
    systems: dict[int, dict] = {}
    items = campaign.items.filter(purpose=Purpose.EVALUATION).order_by()
    cells = items.values_list("cell").annotate(of=Sum("places"), filled=Sum(Least("taken", "places")))
    for cell, places, taken in cells:
        for system in map(int, cell.split(":")):
            row = systems.setdefault(system, {"places": 0, "taken": 0})
            row["places"] += places
            row["taken"] += taken
    return systems


def score_figures(campaign: Campaign, f: Filters, criteria) -> list[dict]:
    """For each criterion with scores: its distribution, every system's mean, agreement so far."""
    rows = (
        scores(campaign, f)
        .order_by("output_id")
        .values_list("criterion_id", "output__system_id", "output__context_id", "output_id", "value", "annotator_id")
    )
    table = np.array(list(rows), dtype=float).reshape(-1, 6)
    figures = []
    for criterion in criteria:
        rows_of_criterion = table[table[:, 0] == criterion.pk]
        unsaid = np.isnan(rows_of_criterion[:, 4])  # cannot say
        rows_of_criterion = rows_of_criterion[~unsaid]
        if len(rows_of_criterion):
            kind = registry.about_output(criterion).kind
            level = kind.level("ordinal")
            said = scores(campaign, f).filter(criterion=criterion, cannot_say=False)
            figures.append(
                {
                    "criterion": criterion,
                    "scores": len(rows_of_criterion),
                    "unsaid": int(unsaid.sum()),
                    "distribution": _distribution(criterion, rows_of_criterion[:, 4]),
                    "shares": _shares(criterion, rows_of_criterion),
                    "systems": _means(rows_of_criterion, registry.about_output(criterion).sign, criterion),
                    "agreement": _agreement(rows_of_criterion[:, 3], rows_of_criterion[:, 4], level),
                    "level": level,
                    "own": kind.own_agreement_in_words(kind.own_agreement(said)),
                }
            )
    return figures


def _distribution(criterion, values: np.ndarray) -> list[dict]:
    """Every point of the scale and every value that was given, with how often."""
    counts = Counter(values.tolist())
    points = sorted(set(counts) | (set(criterion.points) if len(criterion.points) <= 21 else set()))
    return [{"value": f"{v:g}", "n": counts[v], "share": counts[v] / len(values)} for v in points]


def _shares(criterion, rows: np.ndarray) -> dict:
    """How often each system got, and each person gave, which class of scores: {classes, systems, people: [[id, counts]]}. A
    class is a point, or a tenth of a scale with many. People: those with most scores, the strictest first."""
    points = np.array(sorted(set(rows[:, 4].tolist()) | (set(criterion.points) if len(criterion.points) <= CLASSES else set())))
    if len(points) <= CLASSES:
        classes, place = [f"{v:g}" for v in points], np.searchsorted(points, rows[:, 4])
    else:
        ends = np.linspace(criterion.low, criterion.high, TENTHS + 1)
        classes = [f"{a:g}–{b:g}" for a, b in zip(ends, ends[1:])]
        place = np.clip(np.searchsorted(ends, rows[:, 4], side="right") - 1, 0, TENTHS - 1)

    def counted(column: int) -> dict[int, list[int]]:
        found = {int(one): rows[:, column] == one for one in np.unique(rows[:, column])}
        return {one: np.bincount(place[is_its], minlength=len(classes)).tolist() for one, is_its in found.items()}

    people = sorted(counted(5).items(), key=lambda row: -sum(row[1]))[:PEOPLE_SHOWN]
    strictest = lambda row: float(np.average(np.arange(len(classes)), weights=row[1]))
    return {"classes": classes, "systems": list(counted(1).items()), "people": sorted(people, key=strictest)}


def _means(rows: np.ndarray, sign: int, criterion) -> list[dict]:
    """Each system's mean over contexts with its 95% interval, as far as that is on the scale, and whom it speaks of
    (`quality.crossed`), the best first."""
    means_by_system = []
    for system in np.unique(rows[:, 1]):
        rows_of_system = rows[rows[:, 1] == system]
        mean, spread = context_mean(rows_of_system[:, 4], rows_of_system[:, 2], rows_of_system[:, 5])
        ends = spread.around(mean) if spread else ()
        low, high = (min(max(end, criterion.low), criterion.high) for end in ends) if ends else (None, None)
        population, annotators = of_whom(rows_of_system[:, 5])
        means_by_system.append(
            {
                "system": int(system),
                "n": len(rows_of_system),
                "contexts": len(np.unique(rows_of_system[:, 2])),
                "mean": mean,
                "low": low,
                "high": high,
                "population": population,
                "annotators": annotators,
            }
        )
    return sorted(means_by_system, key=lambda row: -sign * row["mean"])


def _agreement(units: np.ndarray, values: np.ndarray, level: Level, reversal: float | None = None) -> dict:
    """Krippendorff's alpha of all answers so far, none left out. units: sorted (answers,). Who answered does not matter
    to alpha, so a unit's answers stand in as many rows as it has answers."""
    if len(units) == 0:
        return {"alpha": None, "why": "There are no answers."}
    first = np.flatnonzero(np.r_[True, units[1:] != units[:-1]])
    sizes = np.diff(np.r_[first, len(units)])
    rank = np.arange(len(units)) - np.repeat(first, sizes)
    compact = np.full((sizes.max(), len(first)), np.nan)
    compact[rank, np.repeat(np.arange(len(first)), sizes)] = values
    try:
        agreement: dict[str, float | None] = {"alpha": alpha(compact, level, reversal), "units": int((sizes > 1).sum())}
    except UndefinedAgreement as why:
        return {"alpha": None, "why": str(why)}
    try:
        agreement["low"], agreement["high"] = alpha_interval(compact, level, reversal=reversal)
    except UndefinedAgreement:
        agreement["low"] = agreement["high"] = None
    return agreement


def pair_figures(campaign: Campaign, f: Filters) -> dict | None:
    """Judgments of pairs: wins by system, which side was chosen, agreement on whole pairs so far."""
    rows = list(
        judgments(campaign, f)
        .filter(cannot_say=False)
        .order_by("output_a_id", "output_b_id")
        .values_list(
            "output_a_id",
            "output_b_id",
            "output_a__system_id",
            "output_b__system_id",
            "choice",
            "shown_swapped",
            "criterion_id",
            "detail",
            "annotator_id",
            "output_a__context_id",
        )
    )
    if not rows:
        return None
    won: dict[int, Counter] = {}
    for _, _, a, b, choice, *_ in rows:
        won.setdefault(a, Counter())[{"A": "won", "tie": "tied", "B": "lost"}[choice]] += 1
        won.setdefault(b, Counter())[{"A": "lost", "tie": "tied", "B": "won"}[choice]] += 1
    systems = [{"system": pk, "n": sum(c.values()), **{k: c[k] for k in ("won", "tied", "lost")}} for pk, c in won.items()]
    sides = Counter("tie" if r[4] == "tie" else "left" if (r[4] == "A") != r[5] else "right" for r in rows if r[5] is not None)
    whole = [row for row in rows if row[6] == f.criterion]
    pairs = np.array([row[0] * 2**31 + row[1] for row in whole], dtype=np.int64)
    kind = registry.about_pair(campaign).kind
    said = [degree(row[4], row[7]) if kind.is_graded else CODES[row[4]] for row in whole]
    level = kind.level("ordinal")
    return {
        "judgments": len(rows),
        "rankings": len({(row[6], *row[8:], row[7][RANKING]) for row in rows if row[7] and row[7].get(RANKING)}),
        "systems": sorted(systems, key=lambda row: -(row["won"] + row["tied"] / 2) / row["n"]),
        "sides": [{"side": s, "n": sides[s], "share": sides[s] / sides.total()} for s in SIDES_IN_ORDER if sides],
        "agreement": _agreement(pairs, np.array(said, dtype=float), level, kind.reversal),
        "level": level,
    }


def time_figures(campaign: Campaign, f: Filters) -> dict | None:
    """Seconds an answer took, idle time left out where the page measured it: quartiles and classes of the newest answers."""
    newest = submissions(campaign, f).exclude(took=None).order_by("-created_at")[:TIMES_READ]
    took = np.array(list(newest.values_list("took", flat=True)), dtype=float)
    if not len(took):
        return None
    low, median, high = np.quantile(took, (0.25, 0.5, 0.75))
    n = np.histogram(took, bins=[*SECONDS, np.inf])[0]
    ends = [*SECONDS[1:], None]
    classes = [{"low": a, "high": b, "n": int(c), "share": c / len(took)} for a, b, c in zip(SECONDS, ends, n)]
    return {"n": len(took), "low": low, "median": median, "high": high, "classes": classes, "is_part": len(took) == TIMES_READ}


def annotator_figures(people: list[Annotator]) -> None:
    """Give each of a page's annotators their median seconds, skips, flags, questions, and when they were last seen."""
    ids = [person.pk for person in people]
    live = Submission.objects.filter(annotator__in=ids, retracted_at=None, is_surplus=False)
    times: dict[int, list] = {}
    for pk, active, seconds in live.order_by("-created_at").values_list("annotator", "active_seconds", "seconds")[:TIMES_READ]:
        times.setdefault(pk, []).append(seconds if active is None else active)
    last = dict(live.order_by().values_list("annotator").annotate(Max("created_at")))
    reports = (
        ItemReport.objects.filter(annotator__in=ids)
        .order_by()
        .values("annotator")
        .annotate(**{name: Count("pk", filter=Q(kind=kind)) for name, kind in REPORTS.items()})
    )
    by_person = {row["annotator"]: row for row in reports}
    for person in people:
        counts: Mapping[str, Any] = by_person.get(person.pk, {})
        known = [t for t in times.get(person.pk, []) if t is not None]
        person.last = last.get(person.pk)  # type: ignore[attr-defined]
        person.median = float(np.median(known)) if known else None  # type: ignore[attr-defined]
        for name in REPORTS:
            setattr(person, name, counts.get(name, 0))
