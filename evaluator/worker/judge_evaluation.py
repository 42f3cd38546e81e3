"""Every judge whose inputs exist, set beside the people of a campaign's accepted judgments. Imported inside commands and task
bodies: some judges need torch."""

import time
from collections.abc import Callable, Collection, Mapping, Sequence
from dataclasses import asdict, dataclass, replace
from functools import cached_property, partial
from types import MappingProxyType

import numpy as np

from annotation import jobs, parts
from annotation.models import Campaign, Reference, Snapshot
from annotation.snapshots import latest_snapshot
from core.errors import Refused
from core.version import code_version
from evaluator.encoders.text_encoder import TextEncoder
from evaluator.judge_tables import imports
from evaluator.judge_tables.exports import PAIRS
from evaluator.judges.protocol import Judge, likeliest, mean_points
from evaluator.judges.texts import Referenced, Text, context_key, referenced
from evaluator.metaevaluation.comparison_scores import Field, scored
from evaluator.metaevaluation.judges_table import JudgeAnswers, JudgeRow, People, as_json, from_rows, rows_of
from evaluator.metrics.inputs import Training, turns_of
from evaluator.metrics.metric import MetricJudge
from evaluator.metrics.registry import METRICS, build
from evaluator.models import JudgesTable
from evaluator.trainings import sources
from evaluator.versions.registry import comparator_in_use
from evaluator.versions.selectors import Basis, basis
from evaluator.worker.judge import load
from evaluator.worker.registration import json_ready

Progress = Callable[[float, str], None]
NO_INPUT = "has no input here"


@dataclass(frozen=True)
class Material:
    """What people said in a snapshot, and what judges may read of it."""

    campaign: Campaign
    snapshot: Snapshot
    basis: Basis
    source: sources.Source
    people: People

    @cached_property
    def texts(self) -> list[Referenced]:
        """(n,) the outputs; what people wrote for the same context is a reference of the others, as are the campaign's own."""
        given = [self.references.get(text.context, []) for text in self.source.texts]
        return referenced(self.source.texts, self.source.human, given)

    @cached_property
    def training(self) -> Training | None:
        """What learned metrics learn from, out of fold by context; None where there is one context alone."""
        scores = self.source.scores[:, 0]  # (n,) means, 0..1
        if len({context_key(text.context) for text in self.texts}) < 2:
            return None
        return Training.dealt(self.texts, None if np.isnan(scores).all() else scores.tolist())

    @cached_property
    def encoder(self) -> TextEncoder:
        return TextEncoder.load()

    @cached_property
    def metrics(self) -> dict[str, MetricJudge]:
        """Those that were made already, by name: one that learns does so once."""
        return {}

    @cached_property
    def references(self) -> dict[tuple[str, ...], list[str]]:
        """The campaign's references of each context that is judged, by its turns."""
        found: dict[tuple[str, ...], list[str]] = {}
        rows = Reference.objects.filter(context__campaign=self.campaign, context__key__in={key[0] for key in self.source.keys})
        for reference in rows.select_related("context"):
            found.setdefault(tuple(reference.context.turns), []).append(reference.text)
        return found

    def numbers_of(self, systems: Collection[str]) -> tuple[int, ...]:
        """Of these systems in `people.systems`, all checkpoints. Raises Refused for one of which people judged no output."""
        numbers: dict[str, set[int]] = {}
        for key, number in zip(self.source.keys, self.people.systems.tolist(), strict=True):
            numbers.setdefault(key[1], set()).add(number)
        if unknown := sorted(set(systems) - set(numbers)):
            raise Refused(f"No output of {unknown[0]!r} was judged here; the systems are: {', '.join(sorted(numbers))}.")
        return tuple(sorted(set().union(*(numbers[name] for name in systems))))


@dataclass(frozen=True)
class Candidate:
    """A judge that may be asked; why: what it lacks, where it lacks all. Nobody named an `optional` one, so that what it
    refuses stands beside the table and ends nothing."""

    name: str
    answer: Callable[[], JudgeAnswers] | None
    why: str = ""
    optional: bool = False


def material(campaign: Campaign, criterion: str | None = None, name: str | None = None) -> Material:
    """Of the snapshot of this name, or the newest one. Raises Refused where there is none, or the criterion is not in it."""
    snapshot = campaign.snapshots.filter(digest__startswith=name).first() if name else latest_snapshot(campaign)
    if snapshot is None:
        known = f"no snapshot {name!r}" if name else "no accepted judgments yet; assess_quality freezes them"
        raise Refused(f"Campaign {campaign.slug!r} has {known}.")
    chosen = basis(snapshot, criterion)
    source = sources.read(snapshot, chosen.criterion, chosen.judgments)
    groups = dict(campaign.contexts.exclude(group="").values_list("key", "group"))
    return Material(campaign, snapshot, chosen, source, _people(source, groups))


def candidates(
    known: Material,
    others: Sequence[tuple[str, Judge]] = (),
    most_pairs: int | None = None,
    seed: int = 0,
    ways: Sequence[str] = (),
) -> list[Candidate]:
    """All judges there are for the campaign: the one place that lists them. others: further ones, by name; of those that read
    pairs each reads at most most_pairs, drawn by the seed. ways: of `comparison_scores.WAYS`, in which the comparator's
    comparisons are made scores too, each a judge of its own."""
    found = [
        _comparator(known),
        *(_by_way(known, way, seed) for way in ways),
        *(Candidate(name, partial(_metric, known, name), optional=True) for name in METRICS),
    ]
    found += [Candidate(name, partial(_imported, known, name)) for name in imports.judges_of(known.campaign)]
    pairs = pairs_to_read(known, most_pairs, seed)
    return found + [Candidate(name, partial(_asked, known, name, judge, pairs)) for name, judge in others]


def pairs_to_read(known: Material, most: int | None = None, seed: int = 0) -> list[tuple[int, int]]:
    """Positions of the pairs that people judged, each once; of more than `most`, as many drawn by the seed."""
    pairs = sorted({(p.a, p.b) for p in known.people.pairs})
    drawn = np.random.default_rng(seed).permutation(len(pairs))[:most]
    return [pairs[i] for i in sorted(drawn.tolist())]


def evaluate(
    known: Material,
    judges: Sequence[Candidate],
    annotators: str,
    seed: int,
    progress: Progress = lambda done, said: None,
    own: Mapping[str, Collection[str]] = MappingProxyType({}),
) -> dict:
    """The table with everything that it takes to get it again. annotators: a key of `alternative_annotator.EPSILON`; own: the
    systems of a judge's own family, by its name. Raises Refused for a system that the snapshot has not."""
    families = {name: known.numbers_of(systems) for name, systems in own.items()}
    told = []
    able = [one for one in judges if one.answer is not None]
    for i, candidate in enumerate(able):
        progress(0.9 * i / len(able), f"{candidate.name} judges")
        told.append(asked(known, candidate, annotators, seed, families.get(candidate.name, ())))
    progress(0.9, "Comparing them with people")
    return record_of(known, judges, told, annotators, seed)


def asked(known: Material, candidate: Candidate, annotators: str, seed: int, own: tuple[int, ...] = ()) -> dict:
    """What the table needs of one judge, as JSON: its answers and its rows, or why it refused. Raises Refused where it is not
    optional."""
    start = time.monotonic()
    assert candidate.answer is not None
    try:
        said = candidate.answer()
    except Refused as refused:
        if not candidate.optional:
            raise
        return {"absent": {"judge": candidate.name, "why": str(refused).rstrip(".")}}
    said = replace(said, name=candidate.name, seconds=round(time.monotonic() - start, 3), own=own)
    rows = {scope: asdict(row) for scope, row in rows_of(known.people, said, annotators, seed).items()}
    told: dict = json_ready({"answers": said.as_json(), "rows": rows})
    return told


def record_of(known: Material, judges: Sequence[Candidate], told: Sequence[dict], annotators: str, seed: int) -> dict:
    """The table's record. told: what `asked` gave for the judges that can answer, in their order."""
    absent = [{"judge": one.name, "why": one.why or NO_INPUT} for one in judges if one.answer is None]
    absent += [one["absent"] for one in told if "absent" in one]
    said = [one for one in told if "absent" not in one]
    answers = [JudgeAnswers.from_json(one["answers"]) for one in said]
    rows = [{scope: JudgeRow.from_json(row) for scope, row in one["rows"].items()} for one in said]
    found = from_rows(known.people, answers, rows, annotators, seed)
    return json_ready(
        {
            "campaign": known.campaign.slug,
            "snapshot": known.snapshot.name,
            "digest": known.snapshot.digest,
            "criterion": known.basis.criterion or PAIRS,
            "warning": known.basis.warning,
            "simulated": known.snapshot.is_simulated,
            "annotators": annotators,
            "seed": seed,
            "code": code_version(),
            "tables": {scope: as_json(one) for scope, one in found.items()},
            "without": absent,
        }
    )


def part_work(table: JudgesTable, known: Material | None = None) -> parts.Work:
    """What asks one judge of a table: {"judge": its name} -> as `asked` gives it."""
    known = known or material(table.campaign, table.criterion, table.snapshot.digest)
    able = {one.name: one for one in candidates(known, seed=table.seed) if one.answer is not None}

    def work(part: dict, report: Progress) -> dict:
        report(0.0, "")
        if part["judge"] not in able:
            raise Refused(f"{part['judge']} has changed since this table was asked for. Ask for it again.")
        return asked(known, able[part["judge"]], table.annotators, table.seed)

    return work


def work_out(claim: jobs.Claim, table: JudgesTable) -> dict:
    """The record of a table, its judges asked by all workers together, a part for each."""
    known = material(table.campaign, table.criterion, table.snapshot.digest)
    judges = candidates(known, seed=table.seed)
    works = [{"judge": one.name} for one in judges if one.answer is not None]
    told = parts.share(claim, lambda: works, part_work(table, known), "Asking the judges", (0.0, 0.9))
    claim.report(0.9, "Comparing them with people")
    return record_of(known, judges, told, table.annotators, table.seed)


def _people(source: sources.Source, group_of: Mapping[str, str]) -> People:
    """group_of: by a context's name, where it has a group; a context without one is its own."""
    names = sorted({who for given in source.ratings for who, _ in given})
    column = {who: j for j, who in enumerate(names)}
    scores = np.full((len(source.texts), len(names)), np.nan)
    for i, given in enumerate(source.ratings):
        for who, value in given:
            scores[i, column[who]] = value
    _, contexts = np.unique([key[0] for key in source.keys], return_inverse=True)
    _, systems = np.unique([f"{key[1]}\n{key[2]}" for key in source.keys], return_inverse=True)
    named = [f"group {group_of[key[0]]}" if key[0] in group_of else f"context {key[0]}" for key in source.keys]
    groups = np.unique(named, return_inverse=True)[1] if group_of else None
    words = np.array([len(text.output.split()) for text in source.texts], dtype=int)
    return People(scores, contexts, systems, np.array(source.human, dtype=bool), words, tuple(source.pairs), groups)


def _comparator(known: Material) -> Candidate:
    version = comparator_in_use(known.campaign)
    if version is None:
        return Candidate("comparator", None, "this campaign has no comparator in use")
    return Candidate(f"comparator {version.name}", lambda: _out_of_fold(known, version), optional=True)


def _out_of_fold(known: Material, version) -> JudgeAnswers:
    """Each context by the member that did not see it; a context that all members learned from is left out."""
    comparator = load(version)
    fresh = _fresh(known, comparator)
    lacks = _learned_from(known, fresh)
    pairs = [(a, b) for a, b in pairs_to_read(known) if fresh[a] and fresh[b]]
    said = _asked(known, version.name, comparator, pairs, fresh)
    settings = {"version": version.name, "seed": version.seed, "code": version.code}
    return replace(said, lacks=lacks or said.lacks, settings=settings)


def _by_way(known: Material, way: str, seed: int) -> Candidate:
    version = comparator_in_use(known.campaign)
    if version is None:
        return Candidate(f"comparator, {way}", None, "this campaign has no comparator in use")

    def answer() -> JudgeAnswers:
        comparator = load(version)
        fresh = _fresh(known, comparator)
        rows = np.flatnonzero(fresh)
        field = Field([known.texts[i] for i in rows], known.people.human[rows], known.people.systems[rows])
        u = np.full(len(known.texts), np.nan)
        try:
            found = scored(way, comparator, field, seed)
        except ValueError as error:
            raise Refused(str(error)) from error
        u[rows] = found.scores
        cost = {"games": found.games, "read": found.read, "reads": comparator.kind}
        return JudgeAnswers(
            version.name, u, lacks=_learned_from(known, fresh), settings={"version": version.name, "seed": seed, **cost}
        )

    return Candidate(f"comparator {version.name}, {way}", answer, optional=True)


def _fresh(known: Material, comparator) -> np.ndarray:
    """(n,) whether at least one member did not learn from the text's context"""
    seen = set(comparator.manifest.beside)
    return np.array([context_key(text.context) not in seen for text in known.texts], dtype=bool)


def _learned_from(known: Material, fresh: np.ndarray) -> str:
    learned = len({text.context for text, new in zip(known.texts, fresh, strict=True) if not new})
    return f"all of its members learned from {learned} of the contexts" if learned else ""


def _asked(
    known: Material, name: str, judge: Judge, pairs: Sequence[tuple[int, int]], fresh: np.ndarray | None = None
) -> JudgeAnswers:
    """What a pointwise judge says of the outputs, fresh (n,): of these only; or a pairwise one of the pairs."""
    u = np.full(len(known.texts), np.nan)
    if judge.kind == "pointwise":
        rows = np.arange(len(u)) if fresh is None else np.flatnonzero(fresh)
        u[rows] = judge.utilities([known.texts[i] for i in rows])
        missing = [known.texts[i] for i in rows if np.isnan(u[i])]
        lacks = f"{len(missing)} of {len(u)} outputs are not judged{_why(judge, missing[0])}" if missing else ""
        return JudgeAnswers(name, u, lacks=lacks, settings=_settings(judge))
    if not pairs:
        return JudgeAnswers(name, u, {}, lacks="this judge reads pairs, and people judged none", settings=_settings(judge))
    a, b = np.array(pairs).T
    said = judge.compare([known.texts[i] for i in a], [known.texts[i] for i in b])
    met = np.unique(pairs)
    u[met] = mean_points(len(u), a, b, said.probabilities)[met]
    every = len(pairs_to_read(known))
    lacks = f"it read {len(pairs):,} of the {every:,} pairs that people judged" if len(pairs) < every else ""
    return JudgeAnswers(name, u, dict(zip(pairs, said.choices.tolist(), strict=True)), lacks=lacks, settings=_settings(judge))


def _why(judge: Judge, text: Text) -> str:
    """Of a text that the judge left out; a metric has a sentence for it."""
    lacks = getattr(judge, "lacks", None)
    return f": {lacks(text)}" if callable(lacks) else ""


def _settings(judge: Judge) -> dict:
    """With what its answers took, where they cost something."""
    return {**getattr(judge, "settings", {}), **getattr(judge, "used", {})}


def _imported(known: Material, name: str) -> JudgeAnswers:
    if of_pairs := imports.pairs_of(known.campaign, name):
        return _imported_pairs(known, name, of_pairs)
    given = imports.scores_of(known.campaign, name)
    u = np.array([given.get(key, np.nan) for key in known.source.keys], dtype=float)
    missing = int(np.isnan(u).sum())
    return JudgeAnswers(name, u, lacks=f"{missing} of {len(u)} outputs have no score" if missing else "")


def _imported_pairs(known: Material, name: str, said: Mapping[tuple, tuple[float, float, float]]) -> JudgeAnswers:
    """Of the pairs that people judged, those it judged too."""
    every, keys = pairs_to_read(known), known.source.keys
    pairs = [(a, b) for a, b in every if (keys[a], keys[b]) in said]
    u = np.full(len(keys), np.nan)
    if not pairs:
        return JudgeAnswers(name, u, {}, lacks="it judged none of the pairs that people judged")
    p, (a, b) = np.array([said[keys[a], keys[b]] for a, b in pairs]), np.array(pairs).T
    met = np.unique(pairs)
    u[met] = mean_points(len(u), a, b, p)[met]
    lacks = f"it judged {len(pairs):,} of the {len(every):,} pairs that people judged" if len(pairs) < len(every) else ""
    return JudgeAnswers(name, u, dict(zip(pairs, likeliest(p).tolist(), strict=True)), lacks=lacks)


def _metric(known: Material, name: str) -> JudgeAnswers:
    """Raises MissingInput, which is a Refused, for what the metric needs and the campaign has not."""
    return _asked(known, name, metric_of(known, name), [])


def metric_of(known: Material, name: str) -> MetricJudge:
    """The metric at work on the campaign. Raises MissingInput."""
    if name not in known.metrics:
        encoder = known.encoder if "encoder" in METRICS[name].needs else None
        known.metrics[name] = build(name, encoder=encoder, corpus=turns_of(known.texts), training=known.training)
    return known.metrics[name]
