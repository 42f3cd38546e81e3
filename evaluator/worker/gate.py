"""The gate's questions put to a version on one campaign: judged on that campaign's accepted judgments, out of fold."""

from dataclasses import asdict, replace

import numpy as np

from annotation.models import Campaign, Snapshot
from core.errors import Refused
from evaluator.metaevaluation import gate
from evaluator.metaevaluation.agreement import accuracy
from evaluator.metaevaluation.pairs import JudgedPair
from evaluator.models import ComparatorVersion
from evaluator.trainings import sources
from evaluator.versions.limits import parted_groups
from evaluator.versions.registry import comparator_in_use
from evaluator.versions.selectors import basis, learned_from
from evaluator.worker import comparators


def ask_all(version: ComparatorVersion) -> None:
    """Put the gate's questions for every campaign it learned from, and keep the answers beside it."""
    version.gates = {campaign.slug: ask(version, campaign) for campaign in version.campaigns.all()}
    version.save(update_fields=["gates"])


def ask(version: ComparatorVersion, campaign: Campaign) -> list[dict]:
    """[{question, passed, answer}] about its use in this campaign; needs a worker, since the version judges the outputs."""
    answers = [gate.accepted(version.warning)]
    answers += _on_people(version, campaign)
    calibration, attacks = _measured(version, campaign)
    return [asdict(one) for one in [*answers, gate.calibrated(calibration), gate.not_fooled(attacks)]]


def _measured(version: ComparatorVersion, campaign: Campaign) -> tuple[dict | None, list[dict]]:
    """Calibration and attacks: those of its training, or where it did not learn from the campaign, those found there. What
    an uploaded card says is nothing to go by."""
    if learned_from(version, campaign):
        return version.metrics.get("calibration"), version.metrics.get("attacks", [])
    here = version.measured_here.get(campaign.slug, {})
    confidence = here.get("confidence", {})
    return confidence if confidence.get("kind") == "here" else None, here.get("attacks", [])


def _on_people(version: ComparatorVersion, campaign: Campaign) -> list[gate.GateQuestion]:
    snapshot = _snapshot(version, campaign)
    if snapshot is None:
        return [_unmeasured(".")]
    try:
        source = sources.read(snapshot, *_read_from(version, campaign, snapshot))
    except Refused as refused:
        return [gate.GateQuestion("Better than chance?", False, str(refused))]
    outputs = sources.outputs_of(snapshot, source.keys)
    known = [p for p in source.pairs if _both_still_there(source, outputs, p)]
    pairs = [pair for pair, is_out in zip(known, _held_out(version, source, known), strict=True) if is_out]
    if not _any_clear(pairs):
        return [_unmeasured(": it learned from every context where they have one." if _any_clear(known) else ".")]
    units = np.unique([source.texts[p.a].group or source.keys[p.a][0] for p in pairs], return_inverse=True)[1]

    def ahead(value) -> np.ndarray:
        """(p,) by how much the first side's value(key) is the larger."""
        return np.array([value(source.keys[p.a]) - value(source.keys[p.b]) for p in pairs])

    def ahead_by(judging: ComparatorVersion) -> np.ndarray:
        utility = comparators.utilities(judging, outputs.values())
        return ahead(lambda key: utility[outputs[key].pk])

    candidate, seed = ahead_by(version), version.seed
    longer = ahead(lambda key: len(outputs[key].text.split()))
    asked = [
        gate.better_than_chance(accuracy(candidate, pairs, units, seed)),
        gate.not_below("“longer is better”", candidate, longer, pairs, units, seed),
    ]
    current = comparator_in_use(campaign)
    if current is not None and current != version:
        both = np.array(_held_out(current, source, pairs))  # (p,) held out for the two
        of_both = [p for p, held_out in zip(pairs, both, strict=True) if held_out]
        name = f"{current.name}, the one in use"
        try:
            found = gate.not_below(name, candidate[both], ahead_by(current)[both], of_both, units[both], seed)
            asked.append(replace(found, answer=" ".join(filter(None, [found.answer, parted_groups(current)]))))
        except Refused:
            asked.append(gate.unreadable(name))
    return asked


def _held_out(version: ComparatorVersion, source: sources.Source, pairs: list[JudgedPair]) -> list[bool]:
    """(p,) whether a member did not learn from the pair's context or group."""
    taught = comparators.taught(version)
    return [not (taught and taught(source.texts[pair.a])) for pair in pairs]


def _any_clear(pairs: list[JudgedPair]) -> bool:
    return any(pair.choice != "tie" for pair in pairs)


def _unmeasured(why: str) -> gate.GateQuestion:
    return gate.GateQuestion(
        "Better than chance?", False, f"There is no held-out clear preference of people to measure it on{why}"
    )


def _snapshot(version: ComparatorVersion, campaign: Campaign) -> Snapshot | None:
    """The one it learned from and was measured on, else the campaign's newest."""
    learnt = campaign.snapshots.filter(digest__in=version.snapshots).first() if learned_from(version, campaign) else None
    return learnt or campaign.snapshots.first()


def _read_from(version: ComparatorVersion, campaign: Campaign, snapshot: Snapshot) -> tuple[str, bool]:
    """Whose scores, and whether judgments of pairs: what it learned from the campaign, else its first criterion there. Raises
    Refused where nothing is."""
    if learned_from(version, campaign):
        criterion, with_judgments = version.settings["sources"][campaign.slug]
        return criterion, with_judgments
    accepted = basis(snapshot)
    if accepted.warning:
        raise Refused(accepted.warning)
    return accepted.criterion, accepted.judgments


def _both_still_there(source: sources.Source, outputs: dict, pair) -> bool:
    return source.keys[pair.a] in outputs and source.keys[pair.b] in outputs
