"""Outputs from a file, with references, checkpoints and known answers."""

import contextlib
from collections import defaultdict
from dataclasses import replace
from typing import Any

from annotation.campaigns import costs
from annotation.campaigns.items import draw_items, known_outputs, new_items, of_playing, settle, superseded
from annotation.checkpoints import of_newest_checkpoints
from annotation.data.corpus import Corpus, Imported
from annotation.data.fields import known_columns
from annotation.data.insertion import Insertion, give_keys
from annotation.data.known import KnownRows
from annotation.models import Campaign, Output, Reference, System
from core.errors import RowError, quoted
from core.rowfiles import BadField, Row

LOGPROB = "logprob"  # in a row, and in an output's metadata

PEOPLE = ("human", "humans", "human-written", "people", "reference", "references", "gold")


def _beside(row: Row) -> dict[str, Any]:
    """What an output's row says of it: figures that were published, and its log probability."""
    if row.get(LOGPROB) in (None, ""):
        return row.mapping("published")
    logprob = row.number(LOGPROB)
    if logprob > 0:
        raise BadField(LOGPROB, f"is {logprob:g}, but the logarithm of a probability is 0 at most")
    return {**row.mapping("published"), LOGPROB: logprob}


class OutputsImport(Corpus):
    kind = "outputs"
    keys_from_text = True

    def __init__(
        self, campaign: Campaign, human_systems=(), only: str | None = None, version: str = "", keep_columns: bool = False
    ):
        super().__init__(campaign, human_systems, version)
        self.only, self.keeps_columns = only, keep_columns

    def begin(self) -> None:
        super().begin()
        self.known_rows = KnownRows({criterion.name: criterion for criterion in self.campaign.criteria.all()})
        self.fields = known_columns(self.kind)
        self.unit = costs.unit_of(self.campaign)
        self.costs: dict[str, float] = {s.name: s.cost for s in self.systems.values() if s.cost is not None}
        self.new_costs: list[System] = []
        self.said_human: dict[str, bool] = {}  # by system, whether its rows say that people wrote what it has
        self.others: list[tuple[Output, dict]] = []  # of each row its columns that are no field

    def take(self, row: Row) -> None:
        context = self.context(row)
        name = row.name("system", default=self.only)
        if self._is_human(row, name):
            self.human.add(name)
        system = self.system(name)
        if self.only not in (None, system.name):
            raise BadField("system", f"is {quoted(name)}, but this file was sent for {quoted(self.only)}")
        self._cost(row, system)
        checkpoint = self.checkpoint(row, system)
        sample = row.whole("sample", default=0)
        text = row.text("output", empty=True)
        output = self.output(context, system, checkpoint, sample, text, "output", _beside(row))
        self.known_rows.take(row, output)
        if self.keeps_columns:
            beside = {c: v for c, v in row.fields.items() if c not in self.fields and v is not None}
            with contextlib.suppress(BadField):  # columns may be called so and say something else
                beside = replace(row, fields={"metadata": beside}).metadata()
            self.others.append((output, beside))
        known = self.references.setdefault(context.key, [])
        for text in row.texts("references"):
            if text not in known:
                self.new_references.append(Reference(context=context, number=len(known), text=text))
                known.append(text)

    def _is_human(self, row: Row, name: str) -> bool:
        """What a row says of its whole system; raises BadField where another says otherwise."""
        is_human = row.truth("human_written")
        if row.get("human_written") not in (None, "") and self.said_human.setdefault(name, is_human) != is_human:
            raise BadField("human_written", f"is true in some rows of the system {quoted(name)} and false in others")
        return is_human

    def _cost(self, row: Row, system: System) -> None:
        if row.get("system_cost") in (None, ""):
            return
        cost, unit = row.number("system_cost"), " ".join(row.name("system_cost_unit", default=self.unit).split())
        if cost < 0:
            raise BadField("system_cost", f"is {cost:g}, but a cost is 0 at least")
        if not unit:
            raise BadField("system_cost_unit", "is missing; a cost needs its unit, as US dollars per 1,000 outputs")
        if self.unit not in ("", unit):
            raise BadField("system_cost_unit", f"is {quoted(unit)}, but costs here are in {quoted(self.unit)}")
        self.unit = unit
        if (known := self.costs.get(system.name)) is None:
            self.costs[system.name] = system.cost = cost
            system.cost_unit = unit
            self.new_costs += [system] if system.pk else []
        elif known != cost:
            raise BadField("system_cost", f"is {cost:g}, but system {quoted(system.name)} was given {known:g}")

    def check(self) -> list[RowError]:
        unknown = {name for name in self.human if self.spellings.name_of(name) not in self.systems}
        names = ", ".join(sorted(quoted(n) for n in unknown))
        message = f"no row has the system {names} that was called human-written"
        return [RowError("--human-system", None, "", message)] if unknown else []

    def assumed(self) -> list[str]:
        return [*super().assumed(), *self.said_of_people(), *self.said_of_ids(), *self.newer_checkpoints()]

    def said_of_people(self) -> list[str]:
        """Of new systems that may be people."""
        people = [s.name for s in self.new_systems if s.name.casefold() in PEOPLE and s.name not in self.human]
        names = ", ".join(map(quoted, people))
        said = f"Did people write the outputs of {names}? Then say that they are human-written (human_written)."
        return [said] if people else []

    def said_of_ids(self) -> list[str]:
        """Of inputs that stand under several ids, each with another system's output: systems meet on ids."""
        systems: dict[str, set[str]] = defaultdict(set)
        for key, system, _, _ in self.outputs:
            systems[key].add(system)
        ids: dict[tuple[str, ...], list[str]] = defaultdict(list)
        for key, context in self.contexts.items() if self.new_contexts else ():
            if not context.turn:  # of conversations, which begin alike
                ids[tuple(context.turns)].append(key)
        apart = [keys for keys in ids.values() if len(keys) > 1 and all(len(systems[key]) == 1 for key in keys)]
        count = sum(len(set().union(*(systems[key] for key in keys))) > 1 for keys in apart)
        if not count:
            return []
        said = f"Inputs with one text under several context_ids, where each id has another system's output: {count:,}."
        return [f"{said} The systems do not meet there. If the ids number the rows, say that no column holds context_id."]

    def newer_checkpoints(self) -> list[str]:
        """What becomes of the items about checkpoints that are the newest no more."""
        if not self.new_checkpoints:
            return []
        before = {output.pk for output in of_newest_checkpoints(o for o in self.outputs.values() if o.pk)}
        gone = before - {output.pk for output in of_newest_checkpoints(self.outputs.values())}
        untouched, begun = superseded(self.campaign, gone) if gone else (0, 0)
        closed = f"{untouched} items about older checkpoints, which nobody has begun, give way to items about the newest ones."
        kept = f"{begun} items about older checkpoints stay with the people who began them, and go to nobody else."
        return [*self.chosen_before(), *([closed] if untouched else []), *([kept] if begun else [])]

    def chosen_before(self) -> list[str]:
        """Of systems that get checkpoints, which one plays on because somebody chose it."""
        chosen = sorted((c.chosen_at, c.system.name, c.name) for c in self.checkpoints.values() if c.chosen_at)
        plays, systems = {system: name for _, system, name in chosen}, sorted({c.system.name for c in self.new_checkpoints})
        said = "System {} plays with checkpoint {}, which was chosen, as before."
        return [said.format(quoted(name), quoted(plays[name])) for name in systems if name in plays]

    def stored(self) -> int:
        """Of the rows taken, those that bring an output."""
        return len(self.new_outputs)

    def keep_columns(self) -> None:
        """Columns that are no field, as metadata of what is new: of contexts, where each has one value, else of outputs."""
        by_context: dict[str, dict[str, Any]] = {}
        varying = set()
        for output, values in self.others:
            of_context = by_context.setdefault(output.context.key, {})
            varying |= {column for column, value in values.items() if of_context.setdefault(column, value) != value}
        for output, values in self.others:
            of_output = {column: value for column, value in values.items() if column in varying}
            if output.pk is None:
                output.metadata = of_output | output.metadata
            if output.context.pk is None:
                shared = {column: value for column, value in values.items() if column not in varying}
                output.context.metadata = shared | output.context.metadata

    def news(self):
        return [*self.corpus_news(), ("known answers", self.known_rows.rows)]

    def prepare(self) -> None:
        """Everything that needs no lock. Known answers decide which outputs have items, so with them those are drawn later."""
        self.keep_columns()
        self.insertions = self.prepare_corpus()
        self.items = None if self.known_rows.rows else self.drawn()

    def drawn(self) -> Insertion:
        """The items that are there once this file is."""
        known = known_outputs(self.campaign)
        live = (output for output in self.outputs.values() if output.system.retired_at is None and output.pk not in known)
        items = new_items(self.campaign, of_playing(live))
        give_keys(items)
        return Insertion(items)

    def store(self, result: Imported) -> None:
        for insertion in self.insertions:
            insertion.write()
        human = {self.systems[self.spellings.name_of(name)].name for name in self.human}
        marked = self.campaign.systems.filter(name__in=human, is_human=False).update(is_human=True)
        if marked:
            result.add("systems marked human-written", marked)
        for system in self.new_costs:
            costs.give_cost(system, system.cost, system.cost_unit)
        if self.new_costs:
            result.add("costs of systems", len(self.new_costs))
        self.known_rows.store(self.campaign, result)
        if self.items is None:
            items = draw_items(self.campaign)
        else:
            self.items.write()
            items = len(self.items.rows)
            settle(self.campaign, items)
        if items:
            result.add("items", items)
