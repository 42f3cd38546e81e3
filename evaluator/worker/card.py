"""What a version's card says, measured by a worker: out of fold on what it learned from, and on campaigns that it did not.

Imported inside task bodies, since a comparator needs torch."""

import resource
import sys
import time
from collections.abc import Callable
from dataclasses import asdict

import numpy as np

from annotation.models import Campaign, Snapshot
from annotation.snapshots import latest_snapshot
from core.errors import Refused
from evaluator.comparator import untrained
from evaluator.comparator.joint_model import JointComparator
from evaluator.comparator.predict import Comparator
from evaluator.comparator.transfer import MOST_OUTPUTS, centre, transfer
from evaluator.metaevaluation import card_figures
from evaluator.metaevaluation.card_figures import JudgedTexts
from evaluator.metaevaluation.held_out import probabilities_by_other_folds
from evaluator.metaevaluation.pairs import BY_PEOPLE, as_arrays
from evaluator.metaevaluation.refit import FIRST_PAIRS, Refit, log_odds, refit
from evaluator.models import ComparatorVersion
from evaluator.trainings import sources
from evaluator.versions.selectors import basis, learned_from
from evaluator.worker.comparators import load
from evaluator.worker.registration import json_ready

MOST_CAMPAIGNS = 12  # those judged last; a card costs minutes, not an afternoon

Report = Callable[[float, str], None]


def card(
    comparator: Comparator | JointComparator, own: list[Campaign], shown, utilities: np.ndarray, seed: int, report: Report
) -> dict:
    """All of it, for a version's metrics, once its members are trained on `shown` (sources.TrainingMaterial): utilities (n,)
    are out of fold; the comparator is read from its files, as whoever uses it does."""
    start, memory = time.monotonic(), peak_memory()
    report(0.0, "Measuring what it is worth")
    found = on_its_own(comparator, shown, utilities, seed, part(report, 0.0, 0.5))
    found |= on_others(comparator, own, shown.texts, seed, part(report, 0.5, 1.0))
    return found | {"peak_memory": memory, "measuring_seconds": time.monotonic() - start}


def part(report: Report, begin: float, end: float) -> Report:
    """The same for one part of the work, which counts its own from 0 to 1."""
    return lambda done, message: report(begin + (end - begin) * done, message)


def peak_memory() -> int:
    """Bytes: the most that this process has held so far."""
    peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    return peak if sys.platform == "darwin" else peak * 1024


def on_its_own(comparator: Comparator | JointComparator, shown, utilities: np.ndarray, seed: int, report: Report) -> dict:
    """On what it learned from (`sources.TrainingMaterial`), by utilities (n,) of the first criterion that are out of fold:
    calibration, correlations by campaign, attacks, flips. On people's pairs, as the training measures itself; where there are
    none of those, attacks and flips alone, on all pairs."""
    recipe = comparator.manifest.settings
    measured = [not beside and not comparator.manifest.taught(text) for text, beside in zip(shown.texts, shown.beside)]  # (n,)
    learnt = [p for p in shown.pairs if recipe.learns_from(p.source) and p.criterion == 0 and measured[p.a]]
    by_people = [pair for pair in learnt if pair.source in BY_PEOPLE]
    pairs = by_people or learnt
    judged = JudgedTexts(shown.texts, pairs, np.where(shown.beside, np.nan, shown.scores[:, 0]), shown.ratings)
    a, b, targets, weights = as_arrays(pairs)
    folds = np.array([comparator.manifest.fold_of(judged.texts[i]) for i in a], dtype=int)
    if comparator.kind == "pairwise":
        p = comparator.compare([judged.texts[i] for i in a], [judged.texts[i] for i in b]).probabilities
    else:
        p = probabilities_by_other_folds(utilities[a] - utilities[b], targets, weights, folds, recipe.ties)
    calibration = card_figures.calibration(p, targets, weights, judged.units[a], seed) if by_people else None
    expected = comparator.expected(utilities[:, None])[:, 0]  # (n,)
    words = np.array([len(text.output.split()) for text in judged.texts], dtype=float)
    report(0.1, "Turning the sides round")
    flips = card_figures.flips(comparator.one_order, judged, seed)
    report(0.3, "Trying to fool it")
    return {
        "longer": card_figures.pairwise(words, judged, seed) if by_people else None,
        "calibration": calibration,
        "reliability": card_figures.reliability(p, targets, weights) if by_people else [],
        "correlations": [
            {"campaign": slug, "above_cosine": _above_cosine(comparator, judged, expected, part, seed)} | found
            for slug, part in shown.parts.items()
            if (found := card_figures.correlations(*_of(judged, expected, part), seed, judged.ratings[part]))
        ],
        "flips": flips,
        "attacks": attacks(comparator, judged, seed, lambda done: report(0.3 + 0.7 * done, "Trying to fool it")),
    }


def _of(judged: JudgedTexts, values: np.ndarray, part: slice) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    return values[part], judged.scores[part], judged.units[part]


def _above_cosine(
    comparator: Comparator | JointComparator, judged: JudgedTexts, expected: np.ndarray, part: slice, seed: int
) -> dict | None:
    cosines = untrained.cosines(comparator.untrained, comparator.encoder, judged.texts[part])
    return card_figures.above_cosine(expected[part], cosines, judged.scores[part], judged.units[part], seed)


def attacks(
    comparator: Comparator | JointComparator, judged: JudgedTexts, seed: int, tick: Callable[[float], None]
) -> list[dict]:
    good = card_figures.good_answers(judged, seed)
    watch = lambda done, message, point: tick(done)
    ahead = lambda honest, bad, attacks: comparator.differences(honest, bad, on_progress=watch, unlearnt=attacks)
    return card_figures.attack_table(ahead, good, seed) if good else []


def on_others(comparator: Comparator | JointComparator, own: list[Campaign], texts, seed: int, report: Report) -> dict:
    """{transfer: a row for each other campaign with accepted judgments, not_measured: [{campaign, why}]}"""
    snapshots, rows, left_out = _judged_last(own), [], []
    home = centre(comparator, (text.context for text in texts), seed) if snapshots else None
    for done, snapshot in enumerate(snapshots):
        campaign = snapshot.campaign
        begin, said = done / len(snapshots), f"Judging other campaigns ({done + 1} of {len(snapshots)})"
        report(begin, said)
        watch = lambda part, message, point, begin=begin, said=said: report(begin + part / len(snapshots), said)
        try:
            judged, criterion = _accepted(snapshot, comparator)
        except (Refused, ValueError) as error:
            left_out.append({"campaign": campaign.slug, "why": str(error)})
            continue
        there = centre(comparator, (text.context for text in judged.texts), seed)
        rows.append(
            {
                "campaign": campaign.slug,
                "criterion": criterion,
                "snapshot": snapshot.name,
                "similarity": float(home @ there),
                "simulated": snapshot.is_simulated,
                **transfer(comparator, judged, seed, watch),
            }
        )
    return {"transfer": rows, "not_measured": left_out}


def where_it_did_not_learn(comparator: Comparator | JointComparator, campaign: Campaign, seed: int) -> dict:
    """{confidence, refit, attacks} of a campaign that the comparator judges and did not learn from. confidence is how far its
    probabilities are from what people said: of kind "here" by scale and ties that are fitted anew on their pairs (refit),
    and as_it_came; of kind "unknown" where these are too few, with how many more it takes (needed). left_out, where there are
    any: the campaign's contexts that all members learned from beside others."""
    asked = [sources.text_in(context, "") for context in campaign.contexts.all()] if comparator.manifest.beside else []
    seen = len({text.context for text in asked if comparator.manifest.taught(text)})
    left_out = {"left_out": seen} if seen else {}
    snapshot = latest_snapshot(campaign)
    judged = _judged(snapshot, comparator) if snapshot else None
    if snapshot is None or judged is None:
        return {"confidence": {"kind": "unknown", "needed": FIRST_PAIRS, **left_out}, "attacks": []}
    found: dict = {"attacks": attacks(comparator, judged, seed, lambda done: None)}
    fitted = _fitted(comparator, judged, snapshot.name, seed) if judged.pairs else None
    if fitted is None:
        return found | {"confidence": {"kind": "unknown", "needed": max(0, FIRST_PAIRS - len(judged.pairs)), **left_out}}
    head, before, after = fitted
    about = {"kind": "here", "campaign": campaign.slug, "snapshot": snapshot.name}
    return found | {"confidence": about | after | {"as_it_came": before} | left_out, "refit": asdict(head)}


def measure_here(version: ComparatorVersion, campaign: Campaign) -> None:
    """Note how far the version is to be trusted on a campaign that it judges, where it did not learn from that one; not
    again before the campaign has a newer snapshot."""
    if learned_from(version, campaign):
        return
    snapshot = latest_snapshot(campaign)
    known, newest = version.measured_here.get(campaign.slug, {}), snapshot.name if snapshot else ""
    if known.get("newest") != newest:
        found = where_it_did_not_learn(load(version), campaign, version.seed) | {"newest": newest}
        version.measured_here[campaign.slug] = json_ready(found)
        version.save(update_fields=["measured_here"])


def _fitted(
    comparator: Comparator | JointComparator, judged: JudgedTexts, snapshot: str, seed: int
) -> tuple[Refit, dict, dict] | None:
    """`refit`, on at most MOST_OUTPUTS of the outputs that are in pairs."""
    sample = judged.take(np.unique([[pair.a, pair.b] for pair in judged.pairs]).astype(int)).sample(MOST_OUTPUTS, seed)
    a, b, _, _ = as_arrays(sample.pairs)
    sides = [sample.texts[i] for i in a], [sample.texts[i] for i in b]
    if comparator.kind == "pairwise":
        p = comparator.compare(*sides).probabilities
        d = log_odds(p)
    else:
        d = comparator.differences(*sides)
        p = comparator.head.probabilities(d)
    return refit(d, p, sample, comparator.manifest.settings.ties, snapshot, seed)


def _judged_last(own: list[Campaign]) -> list[Snapshot]:
    """The newest snapshot of each other campaign, of at most MOST_CAMPAIGNS."""
    others = Campaign.objects.filter(deleted_at=None, snapshots__isnull=False).exclude(pk__in=[c.pk for c in own]).distinct()
    newest = [snapshot for campaign in others.order_by("pk") if (snapshot := latest_snapshot(campaign))]
    return sorted(newest, key=lambda snapshot: snapshot.accepted_at, reverse=True)[:MOST_CAMPAIGNS]


def _judged(snapshot: Snapshot, comparator: Comparator | JointComparator) -> JudgedTexts | None:
    try:
        return _accepted(snapshot, comparator)[0]
    except (Refused, ValueError):
        return None


def _accepted(snapshot: Snapshot, comparator: Comparator | JointComparator) -> tuple[JudgedTexts, str]:
    """What people's accepted judgments say in contexts that the comparator did not learn from or holds out, and of which
    criterion. Raises Refused where none are accepted or left, ValueError where the snapshot is damaged."""
    found = basis(snapshot)
    if found.warning:
        raise Refused(found.warning)
    source = sources.read(snapshot, found.criterion, found.judgments)
    judged = JudgedTexts(source.texts, source.pairs, source.scores[:, 0], source.ratings).without(comparator.manifest.taught)
    if not judged.texts:
        raise Refused("It learned from every context that people judged there.")
    return judged, found.criterion
