"""What judges said elsewhere, scores of outputs or judgments of pairs, as files hold it: an importer for each kind of row,
which `annotation.data.importer` runs like those of people's answers."""

from collections import defaultdict
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

from django.db.models import Manager, Q

from annotation.data.corpus import Imported, KeysOfTexts, RowsImport
from annotation.data.direction import may_be_low
from annotation.data.importer import import_file
from annotation.data.insertion import BATCH
from annotation.data.shapes.shape import JUDGE_PAIRS, JUDGE_SCORES
from annotation.data.spellings import Spellings, folded
from annotation.models import Campaign, Output
from annotation.outcome import outcome_named, side_named
from annotation.questions.value_kind import imported_direction
from annotation.snapshots import former_names, output_names
from core.errors import RowError, quoted
from core.rowfiles import BadField, NotAnswered, Row
from evaluator.judges.program import SUM_ERROR
from evaluator.models import ImportedPair, ImportedScore, Judge
from evaluator.roster import LONGEST_NAME, imported_judge, is_free_for_import, named_for_import

Value = Any  # a score, or (P(A), P(tie), P(B))
Key = Any  # an output's id, or those of a pair, the smaller first


@dataclass(frozen=True)
class _Kind:
    """What is imported: how a row is read, which model keeps it, and under which fields."""

    files: str
    called: str
    model: type[ImportedScore] | type[ImportedPair]
    read: Callable[[Row, "_Places"], tuple[Key, Value]]
    fields: Callable[[Key, Value], dict[str, Any]]
    stored: tuple[str, ...]
    shown: Callable[[Value], str]
    field: str


def import_scores_of(campaign: Campaign, judge: str, source, name: str | None = None, **how) -> Imported:
    """Scores of one judge: rows {context_id or context, system, [checkpoint], [sample], score}; each must meet an output that
    is there. The same file twice changes nothing; another score for an output is refused, unless replace: then all that the
    judge said in this campaign before is replaced. Raises ImportRefused with every error, and then stores nothing."""
    return import_file(campaign, JUDGE_SCORES, source, name, judge=named_for_import(judge), **how)


def import_pairs_of(campaign: Campaign, judge: str, source, name: str | None = None, **how) -> Imported:
    """The same of a judge of pairs: rows {context_id or context, system_a, system_b, [checkpoint_a, checkpoint_b, sample_a,
    sample_b], and a, tie, b: probabilities that add up to 1, or choice: A, tie or B}."""
    return import_file(campaign, JUDGE_PAIRS, source, name, judge=named_for_import(judge), **how)


class JudgesImport(RowsImport):
    """What judges said, by name. A pair that a judge was asked about several times, as in both orders, has the mean of its
    answers; an output has one score of a judge. judge: who said all rows; empty: each row names who."""

    def __init__(self, campaign: Campaign, kind: _Kind, judge: str = "", replace: bool = False):
        self.campaign, self.of, self.kind, self.replace = campaign, kind, kind.files, replace
        self.only = judge and named_for_import(judge)

    def begin(self) -> None:
        self.places = _outputs(self.campaign, self.spellings_apart)
        self.names = Spellings(judges_of(self.campaign), self.spellings_apart)
        self.before: dict[str, dict[Key, Value]] = defaultdict(dict)
        for judge, *row in self._kept().values_list("judge__name", *self.of.stored):
            self.before[judge][_key(row)] = _value(row)
        other = PAIRS if self.of is SCORES else SCORES
        others = other.model.objects.filter(campaign=self.campaign).order_by()
        self.of_other_kind = set(others.values_list("judge__name", flat=True).distinct())
        self.given: dict[str, dict[Key, list[Value]]] = defaultdict(dict)
        self.first: dict[tuple[str, Key], Row] = {}
        self.renamed: dict[str, str] = {}
        self.unsaid: dict[str, Row] = {}  # new judges of whose scores it is not said which end is best

    def take(self, row: Row) -> None:
        if self.of is SCORES and row.is_blank("score"):
            raise NotAnswered("has no score")
        judge = self._judge(row)
        key, value = self.of.read(row, self.places)
        answers = self.given[judge].get(key, [])
        if self.of is SCORES and answers and answers[0] != value:
            is_ = f"is {self.of.shown(value)}, but {self.of.shown(answers[0])} was given for the same output further up"
            raise BadField("score", is_)
        stored = self.before[judge].get(key, value)
        if not self.replace and self.of is SCORES and stored != value:
            raise BadField("score", self._contradiction(value, stored))
        if self.of is SCORES and not row.get("best") and not self.before[judge]:
            self.unsaid.setdefault(judge, row)
        self.given[judge][key] = [*answers, value]
        self.first.setdefault((judge, key), row)

    def _judge(self, row: Row) -> str:
        name = self.only or row.name("judge")
        if len(name) > LONGEST_NAME:
            raise BadField("judge", f"is {len(name)} characters long; at most {LONGEST_NAME} are allowed")
        name = self.names.name_of(name)
        if name not in self.renamed:
            free = is_free_for_import(self.campaign, name)
            self.renamed[name] = name if free else f"{name[: LONGEST_NAME - 11]} (imported)"
        name = self.renamed[name]
        if name in self.of_other_kind:
            other = PAIRS if self.of is SCORES else SCORES
            message = f"the judge {quoted(name)} has {other.called} here already; {self.of.called} need another name"
            raise BadField("judge", message)
        return name

    def _contradiction(self, value: Value, stored: Value) -> str:
        what = "output" if self.of is SCORES else "pair"
        return f"is {self.of.shown(value)}, but {self.of.shown(stored)} is stored for this {what}; --replace replaces it"

    def check(self) -> list[RowError]:
        """Means of pairs are known when all rows are."""
        self.new: dict[str, dict[Key, Value]] = {}
        errors = []
        for judge, row in self.unsaid.items():
            if may_be_low(judge):
                message = f"is not said, and of {quoted(judge)} the lowest score may be the best; say best: low, or best: high"
                errors.append(row.wrong("", BadField("best", f"{message}, in a column where judges differ")))
        for judge, answers in self.given.items():
            before = {} if self.replace else self.before[judge]
            said = {key: _mean(values) if self.of is PAIRS else values[0] for key, values in answers.items()}
            for key, value in said.items():
                if key in before and not _same(before[key], value):
                    error = BadField(self.of.field, self._contradiction(value, before[key]))
                    errors.append(self.first[judge, key].wrong("", error))
            self.new[judge] = {key: value for key, value in said.items() if key not in before}
        return errors

    def assumed(self) -> list[str]:
        systems = self.places[2].sentences("system")
        renamed = [
            f"The judge {quoted(name)} of this file is called {quoted(now)}, since another judge here has its name."
            for name, now in self.renamed.items()
            if name != now
        ]
        several = sum(len(values) > 1 for answers in self.given.values() for values in answers.values())
        asked = f"{several} pairs were judged more than once, as in both orders; the mean of the answers is kept."
        return [*systems, *self.names.sentences("judge"), *renamed, *([asked] if several and self.of is PAIRS else [])]

    def stored(self) -> int:
        return sum(map(len, self.new.values()))

    def news(self) -> list[tuple[str, list]]:
        there = set(judges_of(self.campaign))
        new = [judge for judge, answers in self.new.items() if answers and judge not in there]
        return [("judges", new), (self.kind, [key for answers in self.new.values() for key in answers])]

    def compared(self) -> list[tuple]:
        return [(self._kept(), Q()), (self.campaign.judges.all(), Q())]

    def detail(self) -> dict:
        return {"judges": sorted(self.given), "replaced": self.replace}

    def prepare(self) -> None:
        """A judge's row is made when its answers are stored."""

    def store(self, result: Imported) -> None:
        for judge, answers in self.new.items():
            if not answers:
                continue
            if self.replace:
                self._kept().filter(judge__name=judge).delete()
            row = imported_judge(self.campaign, judge)
            made = [self.of.model(campaign=self.campaign, judge=row, **self.of.fields(k, v)) for k, v in answers.items()]
            manager: Manager[Any] = self.of.model._default_manager
            manager.bulk_create(made, batch_size=BATCH)

    def _kept(self) -> Any:
        return self.of.model._default_manager.filter(campaign=self.campaign).order_by()


def scores_importer(campaign: Campaign, judge: str = "", replace: bool = False) -> JudgesImport:
    return JudgesImport(campaign, SCORES, judge, replace)


def pairs_importer(campaign: Campaign, judge: str = "", replace: bool = False) -> JudgesImport:
    return JudgesImport(campaign, PAIRS, judge, replace)


def _mean(values: list[Value]) -> Value:
    return values[0] if len(values) == 1 else tuple(sum(parts) / len(values) for parts in zip(*values))


def _same(stored: Value, value: Value) -> bool:
    pairs = zip(stored, value) if isinstance(stored, tuple) else [(stored, value)]
    return all(abs(a - b) < 1e-9 for a, b in pairs)


def judges_of(campaign: Campaign) -> list[str]:
    """Judges whose scores or judgments of pairs were imported, by name."""
    return list(campaign.judges.filter(kind=Judge.Kind.IMPORTED).order_by("name").values_list("name", flat=True))


def scores_of(campaign: Campaign, judge: str) -> dict[tuple, float]:
    """{(context, system, checkpoint, sample): score} under every name that a snapshot may have for the output."""
    former = former_names(campaign)
    about = ("output__context", "output__system", "output__checkpoint")
    rows = campaign.imported_scores.filter(judge__name=judge).select_related(*about)
    return {key: row.value for row in rows for key in output_names(row.output, former)}


def pairs_of(campaign: Campaign, judge: str) -> dict[tuple[tuple, tuple], tuple[float, float, float]]:
    """{(output, output): (P(first better), P(tie), P(second better))} in both orders, outputs under every name that a snapshot
    may have for them, as `scores_of`; empty for a judge of single outputs."""
    former, found = former_names(campaign), {}
    about = [f"output_{side}__{name}" for side in "ab" for name in ("context", "system", "checkpoint")]
    for row in campaign.imported_pairs.filter(judge__name=judge).select_related(*about):
        for a in output_names(row.output_a, former):
            for b in output_names(row.output_b, former):
                found[a, b], found[b, a] = (row.p_a, row.p_tie, row.p_b), (row.p_b, row.p_tie, row.p_a)
    return found


def _key(row: list) -> Key:
    return row[0] if len(row) == 2 else tuple(row[:2])


def _value(row: list) -> Value:
    return row[1] if len(row) == 2 else tuple(row[2:])


def _score(row: Row, places: "_Places") -> tuple[Key, Value]:
    value = row.number("score")
    return _output(row, places), -value if imported_direction(row).get("best") == "low" else value


def _pair(row: Row, places: "_Places") -> tuple[Key, Value]:
    a, b = _output(row, places, "_a"), _output(row, places, "_b")
    if a == b:
        raise BadField("system_b", "names the same output as system_a")
    p = _answer(row, places)
    return ((a, b), p) if a < b else ((b, a), p[::-1])


def _answer(row: Row, places: "_Places") -> tuple[float, float, float]:
    """A choice by word or by its system's name, or three probabilities."""
    if not row.is_blank("choice") and row.get("choice") is not None:
        word = row.get("choice")
        outcome, name = outcome_named(word), row.name("choice")
        try:
            a, b = (folded(places[2].name_of(row.name(f"system_{side}"))) for side in "ab")
            named = side_named(folded(name), a, b, row.columns.get("choice", "choice") == "choice")
        except ValueError as unclear:
            raise BadField("choice", str(unclear)) from unclear
        if (choice := outcome or named) is None:
            raise BadField("choice", f"is {quoted(name)}; it must be A, tie or B")
        return tuple(float(choice.code == other) for other in range(3))  # type: ignore[return-value]
    if all(row.get(side) in (None, "") for side in ("a", "tie", "b")):
        raise NotAnswered("has no choice")
    p = (row.number("a"), row.number("tie"), row.number("b"))
    for side, value in zip(("a", "tie", "b"), p):
        if not 0 <= value <= 1:
            raise BadField(side, f"expected a probability from 0 to 1, found {value:g}")
    if abs(sum(p) - 1) > SUM_ERROR:
        raise BadField("tie", f"a, tie and b add up to {sum(p):g}; they have to add up to 1")
    return p


_Places = tuple[dict[tuple, int], KeysOfTexts, Spellings]


def _outputs(campaign: Campaign, spellings_apart: bool) -> _Places:
    """({(context, system, checkpoint, sample): output id}, contexts by their texts, the systems' names)"""
    former = former_names(campaign)
    outputs = Output.objects.filter(context__campaign=campaign, replaced_at=None)
    place: dict[tuple, int] = {}
    keys = KeysOfTexts()
    for output in outputs.select_related("context", "system", "checkpoint"):
        keys.add(output.context.turns, output.context.key)
        for key in output_names(output, former):
            place.setdefault(key, output.pk)
    return place, keys, Spellings({system for _, system, _, _ in place}, spellings_apart)


def _output(row: Row, places: _Places, side: str = "") -> int:
    """side: "_a" or "_b" of a pair, which stands behind the names of its fields."""
    place, keys, spellings = places
    key = row.name("context_id", default="")
    if not key:
        key = keys.of(row.texts("context", required=True))
        if not key:
            raise BadField("context", "is the text of no context of this campaign")
    system = spellings.name_of(row.name(f"system{side}"))
    checkpoint = row.name(f"checkpoint{side}", default="")
    output = place.get((key, system, checkpoint, row.whole(f"sample{side}", 0) or 0))
    if output is None:
        which = f"system {quoted(system)}" + (f", checkpoint {quoted(checkpoint)}," if checkpoint else "")
        raise BadField(f"system{side}", f"{which} has no such output for the context {quoted(key)} in this campaign")
    return output


SCORES = _Kind(
    JUDGE_SCORES,
    "scores",
    ImportedScore,
    _score,
    lambda output, value: {"output_id": output, "value": value},
    ("output_id", "value"),
    lambda value: f"{value:g}",
    "score",
)
PAIRS = _Kind(
    JUDGE_PAIRS,
    "pairs",
    ImportedPair,
    _pair,
    lambda pair, p: {"output_a_id": pair[0], "output_b_id": pair[1], "p_a": p[0], "p_tie": p[1], "p_b": p[2]},
    ("output_a_id", "output_b_id", "p_a", "p_tie", "p_b"),
    lambda p: "/".join(f"{value:g}" for value in p),
    "choice",
)
