"""The gate's questions put to a version on one campaign: judged on that campaign's accepted judgments, out of fold."""

from dataclasses import asdict

import numpy as np

from annotation.models import Campaign, Snapshot
from core.errors import Refused
from evaluator import sources
from evaluator.comparator.examples import context_key
from evaluator.comparator.training.out_of_fold import agreement, bootstrap
from evaluator.metaevaluation import gate
from evaluator.models import ComparatorVersion
from evaluator.registry import serving
from evaluator.selectors import basis, learned_from


def ask_all(version: ComparatorVersion) -> None:
    """Put the gate's questions for every campaign it learned from, and keep the answers beside it."""
    version.gates = {campaign.slug: ask(version, campaign) for campaign in version.campaigns.all()}
    version.save(update_fields=["gates"])


def ask(version: ComparatorVersion, campaign: Campaign) -> list[dict]:
    """[{question, passed, answer}] about serving this campaign; needs a worker, since the version judges the outputs."""
    asked = [gate.accepted(version.warning)]
    asked += _on_people(version, campaign)
    calibration, attacks = _measured(version, campaign)
    return [asdict(one) for one in [*asked, gate.calibrated(calibration), gate.not_fooled(attacks)]]


def _measured(version: ComparatorVersion, campaign: Campaign) -> tuple[dict | None, list[dict]]:
    """Calibration and attacks: those of its training, or where it did not learn from the campaign, those found there. What
    an uploaded card says is nothing to go by."""
    if learned_from(version, campaign):
        return version.metrics.get("calibration"), version.metrics.get("attacks", [])
    here = version.measured_here.get(campaign.slug, {})
    confidence = here.get("confidence", {})
    return confidence if confidence.get("kind") == "here" else None, here.get("attacks", [])


def _on_people(version: ComparatorVersion, campaign: Campaign) -> list[gate.Asked]:
    from evaluator.worker import runner

    snapshot = _snapshot(version, campaign)
    if snapshot is None:
        return [_unmeasured(".")]
    try:
        source = sources.read(snapshot, *_read_from(version, campaign, snapshot))
    except Refused as refused:
        return [gate.Asked("Better than chance?", False, str(refused))]
    outputs = sources.outputs_of(snapshot, source.keys)
    clear = [p for p in source.pairs if p.choice != "tie" and _still_there(source, outputs, p)]
    seen = runner.learnt_beside(version)
    pairs = [p for p in clear if _context(source, p) not in seen]
    if not pairs:
        return [_unmeasured(": it learned from every context where they have one." if clear else ".")]
    contexts = np.unique([source.keys[p.a][0] for p in pairs], return_inverse=True)[1]
    choices = np.array([p.choice for p in pairs])

    def agreed(value) -> np.ndarray:
        """(p,) agreement with people of preferring the larger value(key)."""
        return agreement(np.array([value(source.keys[p.a]) - value(source.keys[p.b]) for p in pairs]), choices)

    def of(judge: ComparatorVersion) -> np.ndarray:
        utility = runner.utilities(judge, outputs.values())
        return agreed(lambda key: utility[outputs[key].pk])

    mine, seed = of(version), version.seed
    asked = [
        gate.better_than_chance(float(mine.mean()), bootstrap(mine, contexts, seed)),
        gate.not_below("“longer is better”", mine, agreed(lambda key: len(outputs[key].text.split())), contexts, seed),
    ]
    current = serving(campaign)
    if current is not None and current != version:
        seen = runner.learnt_beside(current)
        both = np.array([_context(source, p) not in seen for p in pairs])  # (p,) held out for the two
        name = f"{current.name}, which serves now"
        try:
            asked.append(gate.not_below(name, mine[both], of(current)[both], contexts[both], seed))
        except Refused:
            asked.append(gate.unreadable(name))
    return asked


def _unmeasured(why: str) -> gate.Asked:
    return gate.Asked("Better than chance?", False, f"No clear preference of people is left to measure it on{why}")


def _snapshot(version: ComparatorVersion, campaign: Campaign) -> Snapshot | None:
    """The one it learned from and was measured on, else the campaign's newest."""
    mine = campaign.snapshots.filter(digest__in=version.snapshots).first() if learned_from(version, campaign) else None
    return mine or campaign.snapshots.first()


def _context(source: sources.Source, pair) -> str:
    return context_key(source.texts[pair.a].context)


def _read_from(version: ComparatorVersion, campaign: Campaign, snapshot: Snapshot) -> tuple[str, bool]:
    """Whose scores, and whether judgments of pairs: what it learned from the campaign, else what is accepted there. Raises
    Refused where nothing is."""
    if learned_from(version, campaign):
        criterion, with_judgments = version.settings["sources"][campaign.slug]
        return criterion, with_judgments
    found = basis(snapshot)
    if found.warning:
        raise Refused(found.warning)
    return found.criterion, found.judgments


def _still_there(source: sources.Source, outputs: dict, pair) -> bool:
    return source.keys[pair.a] in outputs and source.keys[pair.b] in outputs
