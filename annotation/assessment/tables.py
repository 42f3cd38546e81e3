"""A campaign's counted answers as the arrays that the statistics read. The only place that goes from rows to arrays."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace

import numpy as np

from annotation.models import Campaign, Output
from annotation.outcome import CODES
from annotation.quality.people.influence import ratings
from annotation.quality.reliability import (
    Reliability,
    moves_of_pairs,
    moves_of_scores,
    reliability_of_pairs,
    reliability_of_scores,
)
from annotation.questions import registry, store
from annotation.questions.kind import Question
from annotation.questions.strength import degree
from leaderboard.rating.games import Games
from leaderboard.rating.games_from_answers import games_from_judgments, games_from_scores


@dataclass(frozen=True)
class Table:
    """Answers to one question. annotators: ids, one a row; units: output ids, or (A, B) ids, one a column;
    values: float (annotators, units), scores or codes of choices, nan where missing; when: seconds since 1970, the same. In
    the order of names and keys, so that what is drawn at random does not depend on the order in which answers came in.
    sign: 1 where a higher score is better, -1 where a lower one is. degrees: what agreement is measured on: values, or how
    much better A is where that was asked of pairs (`strength.degree`)."""

    annotators: list[int]
    units: list
    values: np.ndarray
    when: np.ndarray
    sign: int = 1
    how_much: np.ndarray | None = None

    @property
    def degrees(self) -> np.ndarray:
        return self.values if self.how_much is None else self.how_much

    @property
    def missing(self) -> np.ndarray:
        """bool like values"""
        return np.isnan(self.values)


def table_of(campaign: Campaign, question: Question) -> Table | None:
    """Everyone's answers to a question that say something; None where there are none."""
    live = store.to(campaign, question).counted()
    told = ("annotator_id", "annotator__name", "created_at")
    if question.on_pairs:
        place = "output_a__context__key", *(f"output_{x}__{field}" for x in "ab" for field in ("system__name", "sample"))
        pairs = list(live.values_list(*told, "choice", "detail", "output_a_id", "output_b_id", *place))
        table = _table([(who, name, when, CODES[said], (a, b), key) for who, name, when, said, _, a, b, *key in pairs])
        if table is None or not question.kind.is_graded:
            return table
        graded = [(who, name, when, degree(said, much), (a, b), key) for who, name, when, said, much, a, b, *key in pairs]
        return replace(table, how_much=_values(graded, table.annotators, table.units))
    place = "output__context__key", "output__system__name", "output__sample"
    scores = live.values_list(*told, "value", "output_id", *place)
    return _table([(who, name, when, value, output, key) for who, name, when, value, output, *key in scores], question.sign)


def tables_of(campaign: Campaign) -> Iterator[tuple[Question, Table]]:
    """Of each question with answers: about outputs by criterion, about pairs on the whole and by criterion."""
    for question in registry.all_questions(campaign):
        table = table_of(campaign, question)
        if table is not None:
            yield question, table


def _table(rows: list[tuple], sign: int = 1) -> Table | None:
    if not rows:
        return None
    who, names, _, _, what, keys = zip(*rows)
    annotators, units = _sorted(who, names), _sorted(what, keys)
    values = _values(rows, annotators, units)
    times = _values([(*row[:3], row[2].timestamp(), *row[4:]) for row in rows], annotators, units)
    return Table(annotators, units, values, times, sign)


def _values(rows: list[tuple], annotators: list, units: list) -> np.ndarray:
    row, column = ({pk: i for i, pk in enumerate(ids)} for ids in (annotators, units))
    who, _, _, value, what, _ = zip(*rows)
    values = np.full((len(annotators), len(units)), np.nan)
    values[[row[pk] for pk in who], [column[unit] for unit in what]] = value
    return values


def _sorted(ids: Sequence, keys: Sequence) -> list:
    """Each id once, by its key; ids themselves decide between equal keys."""
    key_of = dict(zip(ids, keys))
    return sorted(key_of, key=lambda pk: (key_of[pk], pk))


@dataclass(frozen=True)
class Systems:
    """names: of the systems; system, context: {output id: number}; group: the same of the contexts' groups, a context without
    one being its own; context_id: {output id: its context's id}."""

    names: list[str]
    system: dict[int, int]
    context: dict[int, int]
    group: dict[int, int]
    context_id: dict[int, int]


def systems_of(campaign: Campaign) -> Systems:
    found = Output.objects.filter(context__campaign=campaign)
    placed = sorted(found.values_list("context__key", "system__name", "sample", "pk", "context_id", "context__group"))
    rows = [(pk, name, context, group) for _, name, _, pk, context, group in placed]
    names = sorted({name for _, name, _, _ in rows})
    number = {name: i for i, name in enumerate(names)}
    contexts = {pk: i for i, pk in enumerate(dict.fromkeys(context for _, _, context, _ in rows))}
    groups: dict[str | int, int] = {}
    for _, _, context, group in rows:
        groups.setdefault(group or context, len(groups))
    return Systems(
        names,
        {pk: number[name] for pk, name, _, _ in rows},
        {pk: contexts[context] for pk, _, context, _ in rows},
        {pk: groups[group or context] for pk, _, context, group in rows},
        {pk: context for pk, _, context, _ in rows},
    )


def reliability_of(table: Table, systems: Systems, seed: int = 0) -> Reliability:
    """Of the systems' means, of all answers. Raises UndefinedAgreement."""
    row, column = np.nonzero(~np.isnan(table.values))
    value, units = table.values[row, column], [table.units[j] for j in column]
    if units and isinstance(units[0], tuple):
        first, second = ([systems.system[unit[side]] for unit in units] for side in (0, 1))
        groups = [systems.group[unit[0]] for unit in units]
        return reliability_of_pairs(row, groups, first, second, 1 - value, seed)
    of_output = [systems.system[unit] for unit in units]
    return reliability_of_scores(row, [systems.group[unit] for unit in units], of_output, value, seed)


def moves_of(table: Table, systems: Systems) -> tuple[list[int], np.ndarray]:
    """(context ids, by how much the answers about each raise each system beyond what is known of it). Raises
    UndefinedAgreement."""
    row, column = (~table.missing).nonzero()
    value, units = table.values[row, column], [table.units[j] for j in column]
    on_pairs = bool(units) and isinstance(units[0], tuple)
    outputs = [unit[0] for unit in units] if on_pairs else units
    contexts = [systems.context_id[pk] for pk in outputs]
    if on_pairs:
        first, second = ([systems.system[unit[side]] for unit in units] for side in (0, 1))
        ids, moves = moves_of_pairs(row, contexts, first, second, 1 - value)
    else:
        ids, moves = moves_of_scores(row, contexts, [systems.system[unit] for unit in units], value)
    return ids.tolist(), moves


def games_of(table: Table, systems: Systems, keep: np.ndarray | None = None) -> tuple[Games, np.ndarray]:
    """The games that people's answers make, and whose they are (index into table.annotators): one rule for scores and
    pairs. keep: bool like table.values, the answers that count; all when left out."""
    counted = ~np.isnan(table.values) if keep is None else keep & ~np.isnan(table.values)
    parts, whose = [], []
    for i, row in enumerate(counted):
        units = [table.units[j] for j in np.flatnonzero(row)]
        value = table.values[i, row]
        games = (
            _games_of_pairs(units, value, systems)
            if units and isinstance(units[0], tuple)
            else _games_of_scores(units, table.sign * value, systems)
        )
        parts.append(games)
        whose.append(np.full(len(games), i))
    fields = ("first", "second", "outcome", "context")
    joined = Games(*(np.concatenate([getattr(g, f) for g in parts]) if parts else np.zeros(0, int) for f in fields))
    return joined, np.concatenate(whose) if whose else np.zeros(0, int)


def _games_of_scores(outputs, value, systems: Systems) -> Games:
    system, context = ([of[pk] for pk in outputs] for of in (systems.system, systems.context))
    return games_from_scores(system, context, np.zeros(len(outputs), dtype=int), value)


def _games_of_pairs(pairs, choice, systems: Systems) -> Games:
    a, b = ([systems.system[pair[side]] for pair in pairs] for side in (0, 1))
    return games_from_judgments(a, b, [systems.context[pair[0]] for pair in pairs], choice.astype(int))


def ratings_of(table: Table, systems: Systems, keep: np.ndarray | None = None) -> np.ndarray:
    """People's ratings of the systems: float (systems,), 1500 for a system without games."""
    return ratings(len(systems.names), games_of(table, systems, keep)[0])
