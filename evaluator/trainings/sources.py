"""What a comparator learns from and is measured on. No torch here."""

import hashlib
import json
from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass, replace

import numpy as np
from django.db.models import Max

from annotation import snapshots
from annotation.models import Campaign, Checkpoint, Context, Output, Reference, Snapshot
from annotation.models.corpus import HAS_SOURCE
from annotation.snapshots import SnapshotContent, former_names, output_names
from evaluator.comparator.examples import Exchange, aligned
from evaluator.comparator.settings import Settings
from evaluator.comparator.supervision.self_supervision import Origin, exchanges, reply_pairs, strong_pairs, weak_pairs
from evaluator.judges.texts import Referenced, Text, place_of, referenced
from evaluator.metaevaluation import ceiling
from evaluator.metaevaluation.pairs import JudgedPair, mean_scores, pairs_from_judgments, pairs_from_scores
from evaluator.models import TrainingRun


@dataclass(frozen=True)
class Source:
    """One snapshot's judgments: pairs and scores by position in texts; keys name each text's output in the campaign."""

    keys: list[tuple]  # (context, system, checkpoint, sample)
    texts: list[Text]
    human: list[bool]  # (n,) whether its system was called human-written then
    pairs: list[JudgedPair]
    scores: np.ndarray  # (n, c) mean score of each text by each criterion, 0 to 1, nan where unknown
    ratings: list[list[tuple[str, float]]]  # (n,) by the first criterion, who scored the text and how; the scores are means
    counts: dict[str, int]
    ceiling: dict  # metaevaluation.ceiling.Ceiling as a dict, by "scores" and "judgments" where there are any
    scale: tuple[float, float] | None = None  # lowest and highest score of the first criterion


def unjudged() -> Source:
    """Of a campaign whose judgments are not read."""
    return Source([], [], [], [], np.empty((0, 1)), [], {}, {})


def read(snapshot: Snapshot, criterion: str, with_judgments: bool, others: Sequence[str] = ()) -> Source:
    """criterion: whose scores; "" for none. with_judgments: the judgments of pairs too, which speak of that criterion.
    others: further criteria, whose scores are read where there are any."""
    content = snapshots.read(snapshot)
    of_output = {_key(row): row for row in content.outputs}
    keys: dict[tuple, int] = {}

    def place(key: tuple) -> int:
        return keys.setdefault(key, len(keys))

    def who(row: dict) -> str:
        return f"{snapshot.campaign_id}/{row['annotator']}"  # a name stands for one person within a campaign

    of_criterion = [[r for r in content.scores if name and r["criterion"] == name] for name in (criterion, *others)]
    scored = [[(place(_key(r)), who(r), r["value"]) for r in _best_highest(content, rows)] for rows in of_criterion]
    judged = content.judgments if with_judgments else []
    sides = [((r["context"], *r["a"]), (r["context"], *r["b"])) for r in judged]
    judgment_rows = [(place(a), place(b), who(r), r["choice"]) for (a, b), r in zip(sides, judged)]
    groups = groups_of(snapshot.campaign)  # as they are now: they are no part of a judgment
    texts = [
        Text(
            tuple(content.contexts[key[0]]),
            of_output[key]["text"],
            context_id=f"{snapshot.campaign_id} {key[0]}",
            group=groups.get(key[0], ""),
        )
        for key in keys
    ]
    scale = {c["name"]: (c["low"], c["high"]) for c in content.criteria}
    scales = [scale.get(name) for name in (criterion, *others)]
    from_scores = [
        replace(pair, criterion=i) for i, rows in enumerate(scored) for pair in pairs_from_scores(rows, texts, scales[i])
    ]
    from_judgments = pairs_from_judgments(judgment_rows)
    ratings: list[dict[str, float]] = [{} for _ in texts]
    for text, annotator, value in scored[0]:
        ratings[text][annotator] = value
    return Source(
        keys=list(keys),
        texts=texts,
        human=[of_output[key]["human"] for key in keys],
        pairs=from_scores + from_judgments,
        scores=np.array([mean_scores(rows, len(texts), scales[i]) for i, rows in enumerate(scored)]).T,
        ratings=[list(given.items()) for given in ratings],
        scale=scales[0],
        counts={
            "scores": sum(len(rows) for rows in scored),
            "judgments": len(judgment_rows),
            "pairs_from_scores": len(from_scores),
            "pairs_from_judgments": len(from_judgments),
        },
        ceiling=_ceilings(
            [(r["context"], str(_key(r)), r["annotator"], r["value"]) for r in of_criterion[0]],
            [(a[0], (a, b), r["annotator"], r["choice"]) for (a, b), r in zip(sides, judged)],
            groups,
        ),
    )


def _best_highest(content: SnapshotContent, rows: list[dict]) -> list[dict]:
    """Scores on one criterion, turned about the middle of its scale where its lowest point is the best."""
    name = rows[0]["criterion"] if rows else ""
    if content.sign(name) > 0:
        return rows
    ends = next(c["low"] + c["high"] for c in content.criteria if c["name"] == name)
    return [row | {"value": ends - row["value"]} for row in rows]


def _ceilings(scores, judgments, groups: Mapping[str, str]) -> dict:
    found = {}
    if scores:
        found["scores"] = asdict(ceiling.from_scores(scores, groups=groups))
    if judgments:
        found["judgments"] = asdict(ceiling.from_judgments(judgments, groups=groups))
    return found


def supervise(source: Source, campaign: Campaign, strong: bool, weak: bool) -> tuple[list[Text], list[JudgedPair]]:
    """What is known without anybody judging: all texts of the campaign, those of the source first and, for strong, its
    references last; and the pairs of those that people wrote (strong) and of systems' checkpoints (weak)."""
    if not (strong or weak):
        return source.texts, []
    texts, origins = texts_and_origins(source, campaign, strong)
    return texts, (strong_pairs(texts, origins) if strong else []) + (weak_pairs(texts, origins) if weak else [])


def texts_and_origins(source: Source, campaign: Campaign, strong: bool) -> tuple[list[Text], list[Origin]]:
    """The texts of `supervise`, and who wrote each of them; without strong, those of the source and of checkpoints alone."""
    place = {key: i for i, key in enumerate(source.keys)}
    texts, origins = list(source.texts), [Origin(key[1], h, key[2]) for key, h in zip(source.keys, source.human)]
    outputs = Output.objects.filter(context__campaign=campaign, replaced_at=None).order_by("pk")
    former, lengths = former_names(campaign), training_lengths(campaign)
    for output in outputs.select_related("context", "system", "checkpoint").iterator(chunk_size=2000):
        origin = _origin(output, lengths)
        known = next((place[key] for key in output_names(output, former) if key in place), None)
        if known is not None:
            origins[known] = origin
        elif strong or output.checkpoint_id:
            texts.append(text_in(output.context, output.text))
            origins.append(origin)
    if strong:
        humans = (text for text, origin in zip(texts, origins, strict=True) if origin.human)
        written = {(place_of(text), text.output) for text in humans}  # often a reference as well
        references = Reference.objects.filter(context__campaign=campaign).select_related("context")
        for reference in references.order_by("pk").iterator(chunk_size=2000):
            text = text_in(reference.context, reference.text)
            if text.output.strip() and (place_of(text), text.output) not in written:
                written.add((place_of(text), text.output))
                texts.append(text)
                origins.append(Origin("", human=True))
    return texts, origins


def training_lengths(campaign: Campaign) -> dict[int, int]:
    """{system's id: iterations of its whole training} where that is known. A training that was prolonged has checkpoints with
    several totals, and the share done at each is of the longest."""
    known = Checkpoint.objects.filter(system__campaign=campaign).order_by()
    rows = known.values_list("system").annotate(total=Max("total_iterations"), last=Max("iteration"))
    return {system: max(total, last or 0) for system, total, last in rows if total}


def text_in(context: Context, text: str) -> Text:
    """Its id is told from those of other campaigns, since a comparator may learn from several."""
    here = context.campaign_id
    group = f"{here} {context.source}" if context.source else ""
    return Text(tuple(context.turns), text, context_id=f"{here} {context.key}", group=group)


def groups_of(campaign: Campaign) -> dict[str, str]:
    """{a context's key: `Text.group`} of those that have one"""
    contexts = campaign.contexts.filter(HAS_SOURCE).only("campaign", "key", "group", "metadata")
    return {context.key: f"{campaign.pk} {context.source}" for context in contexts if context.source}


def _origin(output: Output, lengths: Mapping[int, int]) -> Origin:
    at, length = output.checkpoint, lengths.get(output.system_id)
    reached = at.iteration / length if at and at.iteration is not None and length and at.total_iterations else None
    return Origin(output.system.name, output.system.is_human, at.name if at else "", reached)


def conversations(campaign: Campaign) -> list[Exchange]:
    """What people say to what: the imported dialogues, and what the campaign's human-written systems and references
    answer to its contexts."""
    found = exchanges((f"dialogue:{d.key}", d.turns, d.references) for d in campaign.dialogues.order_by("pk"))
    replies: dict[int, list[str]] = {}
    written = Output.objects.filter(context__campaign=campaign, replaced_at=None, system__is_human=True).order_by("pk")
    references = Reference.objects.filter(context__campaign=campaign).order_by("pk")
    for context, text in [*written.values_list("context", "text"), *references.values_list("context", "text")]:
        if text.strip():
            replies.setdefault(context, []).append(text)
    turns = dict(campaign.contexts.filter(pk__in=replies).values_list("pk", "turns")) if replies else {}
    return found + [Exchange(tuple(turns[pk]), tuple(dict.fromkeys(texts)), f"context:{pk}") for pk, texts in replies.items()]


@dataclass(frozen=True)
class TrainingMaterial:
    """What a run learns from. Judgments come from its snapshots alone; conversations and supervision without judgments
    from the campaigns as they are now, which `provenance` pins by a hash."""

    texts: list[Text]
    pairs: list[JudgedPair]
    scores: np.ndarray  # (n, c) mean by each criterion, 0 to 1, nan where unknown
    ratings: list[list[tuple[str, float]]]  # (n,) by the first criterion, who scored the text and how
    criteria: list[str]  # (c,) names; the first is the one it judges by
    exchanges: list[Exchange]
    parts: dict[str, slice]  # which of the texts are of which campaign
    beside: np.ndarray  # (n,) True where it is learnt from and not measured
    provenance: dict  # for the version's metrics: counts by source, people's ceiling by campaign, the hash


def examples(run: TrainingRun, recipe: Settings) -> TrainingMaterial:
    texts, pairs, scores, ratings, exchanges, beside, counts, ceilings, parts = [], [], [], [], [], [], Counter(), {}, {}
    others, lent = run.settings.get("others", []), run.settings.get("beside", [])
    frozen = {snapshot.campaign_id: snapshot for snapshot in run.snapshots.all()}
    digest = lambda campaign: frozen[campaign.pk].digest if campaign.pk in frozen else campaign.slug
    campaigns = sorted(run.campaigns.all(), key=lambda c: (c.slug in lent, digest(c)))  # the measured ones' scale for all
    for campaign in campaigns:
        criterion, with_judgments = run.settings["sources"][campaign.slug]
        source = read(frozen[campaign.pk], criterion, with_judgments, others) if recipe.human else unjudged()
        said = conversations(campaign) if recipe.next_utterance else []
        all_texts, supervised = supervise(source, campaign, recipe.strong, recipe.weak)
        if not recipe.human and not supervised:
            all_texts, supervised = reply_pairs(said)
        here = [*source.pairs, *supervised]
        pairs += [replace(pair, a=pair.a + len(texts), b=pair.b + len(texts)) for pair in here]
        unknown = np.full((len(all_texts) - len(source.texts), 1 + len(others)), np.nan)
        scores.append(np.concatenate([source.scores, unknown]))
        ratings += [*source.ratings, *([] for _ in unknown)]
        parts[campaign.slug] = slice(len(texts), len(texts) + len(all_texts))
        texts += all_texts
        beside += [campaign.slug in lent] * len(all_texts)
        exchanges += [] if recipe.base else said
        counts.update(source.counts)
        ceilings[campaign.slug] = source.ceiling
    told = [{name: value for name, value in asdict(text).items() if value or name != "group"} for text in texts]
    pinned = hashlib.sha256(json.dumps([told, [asdict(e) for e in exchanges]]).encode()).hexdigest()
    provenance = {"sources": dict(counts), "ceilings": ceilings, "texts_sha256": pinned}
    return TrainingMaterial(
        texts, pairs, _in_line(scores), ratings, [run.criterion, *others], exchanges, parts, np.array(beside), provenance
    )


def _in_line(scores: list[np.ndarray]) -> np.ndarray:
    """Each campaign's scores (n, c) brought in line with those of the first that has any by that criterion, in one array."""
    for c in range(scores[0].shape[1]):
        known = [given[:, c] for given in scores if np.isfinite(given[:, c]).any()]
        for column in known[1:]:
            column[:] = aligned(column, known[0])
    return np.concatenate(scores)


def outputs_of(snapshot: Snapshot, keys: list[tuple]) -> dict[tuple, Output]:
    """The campaign's outputs by key; one that was replaced since the snapshot is missing."""
    wanted, former = set(keys), former_names(snapshot.campaign)
    there = Output.objects.filter(context__campaign=snapshot.campaign_id, replaced_at=None)
    return {
        key: output
        for output in there.select_related("context", "system", "checkpoint")
        for key in output_names(output, former)
        if key in wanted
    }


def _key(row: dict) -> tuple:
    return row["context"], row["system"], row["checkpoint"], row["sample"]


def referenced_outputs(campaign: Campaign, outputs: Sequence[Output]) -> list[Referenced]:
    """(n,) the outputs' texts with their references: the campaign's of the context, and what people wrote for it."""
    given: dict[int, list[str]] = {}
    for context, text in Reference.objects.filter(context__campaign=campaign).values_list("context_id", "text"):
        given.setdefault(context, []).append(text)
    human, known = [output.system.is_human for output in outputs], logprobs(campaign)
    return referenced(
        [text_in(output.context, output.text) for output in outputs],
        human,
        [given.get(o.context_id, []) for o in outputs],
        [known.get(o.pk) for o in outputs],
    )


def logprobs(campaign: Campaign) -> dict[int, float]:
    """What generators say of their outputs, by the outputs' ids; of those that came with it."""
    there = Output.objects.filter(context__campaign=campaign, replaced_at=None, metadata__has_key="logprob")
    return dict(there.values_list("pk", "metadata__logprob"))
