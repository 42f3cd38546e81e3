"""Rankings of several outputs, as the judgments of their pairs: an order in a cell, the best and the worst, WMT's columns, or a
row for each output with its rank.

The pairs of a ranking have its name (`ranking`), so that it is known which of them were one answer. The best and the worst say
nothing of those between them, whose pairs are none."""

import re
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import replace
from typing import Any

from annotation.data.fields import guess
from annotation.data.shapes.shape import JUDGMENTS, OUTPUTS, Entry, Fields, LeftOut, Shape, Surroundings
from annotation.data.shapes.values import number
from annotation.questions.columns import RANKING
from annotation.questions.ranked.method import MOST, judged_pairs, name_of
from core.rows import BadField, NotAnswered, Row, json_in, shown

ORDER, NAME, TEXTS, SHOWN = "ranking", "ranking_id", "outputs", "systems"
BEST, WORST, RANK = "best", "worst", "rank"
OF_WMT = re.compile(r"system(\d+)Id$")
Places = list[list[str]]  # from the best on; who share a place are a tie


def _recognises(fields: Fields) -> bool:
    return not _has_choice(fields) and (ORDER in fields or fields.keys() >= {BEST, WORST, SHOWN} or _is_wmt(fields))


def has_texts(fields: Fields) -> bool:
    """Does it bring the outputs along?"""
    return isinstance(json_in(fields.get(TEXTS)), dict)


def _has_choice(fields: Fields) -> bool:
    """Is each row a pair?"""
    return "choice" in guess("judgments", list(fields))


def _is_wmt(fields: Fields) -> bool:
    return {"judgeId", "system1Id", "system1rank"} <= fields.keys()


def _entries(fields: Fields, around: Surroundings) -> Iterator[Entry | LeftOut]:
    known = {name: value for name, value in fields.items() if name not in (ORDER, NAME, TEXTS, SHOWN, BEST, WORST)}
    texts = json_in(fields.get(TEXTS)) or {}
    if not isinstance(texts, dict):
        raise BadField(TEXTS, "expected an object with the text of each system")
    for system, text in texts.items():
        yield Entry(OUTPUTS, known | {"system": system, "output": text})
    if _is_wmt(fields):
        known = {name: value for name, value in known.items() if not re.match(r"system\d+", name)}
        known |= {"annotator": fields["judgeId"], "context_id": fields.get("segmentId") or fields.get("srcIndex")}
        places, is_open = _of_wmt(fields), False
    elif ORDER in fields:
        places, is_open = _order(fields[ORDER]), False
    else:
        places, is_open = _best_and_worst(fields), True
    yield from _pairs(known, places, is_open, texts, fields.get(NAME))


def _pairs(known: Fields, places: Places, is_open: bool, texts: Fields, name: Any) -> Iterator[Entry]:
    """is_open: nothing is known of those that share a place"""
    rank = {system: at for at, place in enumerate(places, start=1) for system in place}
    if len(rank) < sum(map(len, places)) or not 2 <= len(rank) <= MOST:
        raise BadField(ORDER, f"expected 2 to {MOST} systems, each once, found {shown(', '.join(sum(places, [])))}")
    known = known | {RANKING: str(name or name_of(rank))}
    systems = sorted(rank)
    for i, j, choice in judged_pairs([rank[system] for system in systems], is_open):
        a, b = systems[i], systems[j]
        sides = {"system_a": a, "system_b": b, "choice": choice, "shown_left": ""}  # nobody knows how they stood
        own = {f"output_{side}": texts[system] for side, system in (("a", a), ("b", b)) if system in texts}
        yield Entry(JUDGMENTS, known | sides | own)


def _order(said: Any) -> Places:
    """Of ["alpha", ["beta", "gamma"]], also as JSON in a cell, or of: alpha > beta = gamma. Raises BadField, NotAnswered."""
    if said in (None, "", []):
        raise NotAnswered("has no ranking")
    order = json_in(said)
    if isinstance(order, str):
        order = [[name.strip() for name in place.split("=")] for place in order.split(">")]
    places = [place if isinstance(place, list) else [place] for place in order] if isinstance(order, list) else []
    if not places or not all(isinstance(system, str) and system.strip() for place in places for system in place):
        raise BadField(ORDER, f"expected names of systems from the best on, as: A > B = C, found {shown(said)}")
    return places


def _best_and_worst(fields: Fields) -> Places:
    best, worst, systems = fields[BEST], fields[WORST], json_in(fields[SHOWN])
    if best in (None, "") and worst in (None, ""):
        raise NotAnswered("names no best and no worst")
    systems = [part.strip() for part in systems.split(",")] if isinstance(systems, str) else systems
    if not isinstance(systems, list) or best not in systems or worst not in systems or best == worst:
        raise BadField(
            SHOWN, f"expected the systems that were shown, among them the best and the worst, found {shown(systems)}"
        )
    between = [system for system in systems if system not in (best, worst)]
    return [[best], *([between] if between else []), [worst]]


def _of_wmt(fields: Fields) -> Places:
    """Ranks below 1 are of no system."""
    ranked = [
        (number(fields.get(f"system{match[1]}rank")), str(name))
        for column, name in fields.items()
        if (match := OF_WMT.match(column))
    ]
    return _by_rank([(rank, system) for rank, system in ranked if rank is not None and rank > 0])


def _by_rank(ranked: Sequence[tuple[float, str]]) -> Places:
    if not ranked:
        raise NotAnswered("has no rank")
    return [[system for at, system in ranked if at == rank] for rank in sorted({rank for rank, _ in ranked})]


def _has_ranks(fields: Fields) -> bool:
    return RANK in fields and not _has_choice(fields) and {"system", "annotator"} <= guess("scores", list(fields)).keys()


def _gathered(rows: Iterable[Row]) -> Iterator[Row]:
    """One row for each ranking of a person: outputs of one context, criterion and, where the file names it, ranking."""
    sheets: dict[tuple, tuple[Row, list[Fields]]] = {}
    for row in rows:
        columns = guess("scores", list(row.fields))
        about = ("annotator", "context_id", "context", "aspect")
        key = tuple(str(row.fields.get(columns.get(field, field))) for field in about) + (str(row.fields.get(NAME)),)
        sheets.setdefault(key, (row, []))[1].append(row.fields)
    for first, places in sheets.values():
        yield replace(first, fields=first.fields | {"places": places})


def _ranks(fields: Fields, around: Surroundings) -> Iterator[Entry | LeftOut]:
    columns = guess("scores", list(fields))
    system, output = columns["system"], guess("outputs", list(fields)).get("output", "")
    ranked, texts = [], {}
    for place in fields["places"]:
        if (rank := number(place.get(RANK))) is None:
            raise BadField(RANK, f"expected a number, 1 for the best, found {shown(place.get(RANK))}")
        ranked.append((rank, str(place[system])))
        if isinstance(place.get(output), str):
            texts[str(place[system])] = place[output]
    known = {name: value for name, value in fields.items() if name not in ("places", RANK, NAME, system, output)}
    yield from _pairs(known, _by_rank(ranked), False, texts, fields.get(NAME))


RANKINGS = Shape(
    name="rankings",
    address="docs/campaigns/import.md",
    kinds=(OUTPUTS, JUDGMENTS),
    recognises=_recognises,
    entries=_entries,
    guess="A ranking is stored as judgments of its pairs, which keep its name. The best and the worst leave the others open.",
)
RANKS = Shape(
    name="rankings, a row for each output",
    address="docs/campaigns/import.md",
    kinds=(JUDGMENTS,),
    recognises=_has_ranks,
    entries=_ranks,
    guess="1 is the best rank. A person's outputs of one context are one ranking, stored as the judgments of its pairs.",
    gathers=_gathered,
)
