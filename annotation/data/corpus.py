"""The texts that an imported file brings: met by name among those that are there, gathered, written at the end."""

import re
from collections import Counter
from collections.abc import Iterable
from dataclasses import asdict, dataclass, field
from functools import cached_property

from annotation.data.contradictions import Contradictions
from annotation.data.insertion import Insertion, give_keys
from annotation.data.spellings import Spellings, called_missing
from annotation.models import Campaign, Checkpoint, Context, FormerName, Output, Reference, System
from annotation.models.corpus import key_from
from core.errors import RowError, quoted
from core.rowfiles import BadField, NotAnswered, Row
from core.rows import MISSING, SHEET_ERRORS

SHEET_DATE = re.compile(r"\d{4}-\d\d-\d\dT00:00:00")  # of a cell without a time of day (`core.table_rows`)

LISTED = 5  # outputs that an error names


@dataclass
class Imported:
    """What an import did. rows: answers or outputs that were read. Of these, `new` says by kind what was stored, `repeated`
    were there already or stood in the file before, and `left_out` is the rest, by reason (`listed`: [file, line, reason] of the
    first). elsewhere: what else the file holds, which another import reads. assumed: what was taken for granted."""

    rows: int = 0
    new: dict[str, int] = field(default_factory=dict)
    dry_run: bool = False
    repeated: int = 0
    left_out: dict[str, int] = field(default_factory=dict)
    listed: list[tuple[str, int, str]] = field(default_factory=list)
    elsewhere: dict[str, int] = field(default_factory=dict)
    assumed: list[str] = field(default_factory=list)
    unused: list[str] = field(default_factory=list)  # columns that are no field, and of which nothing is kept

    def as_dict(self) -> dict:
        return {name: value for name, value in asdict(self).items() if value or name in ("rows", "new", "dry_run")}

    def add(self, kind: str, count: int = 1) -> None:
        self.new[kind] = self.new.get(kind, 0) + count


class RowsImport:
    """What every importer of one kind of rows has in common."""

    keeps_columns = False  # are columns that are no field kept?
    spellings_apart = False  # is each spelling of a name a name of its own?
    way_of_contradictions = ""  # one of contradictions.WAYS
    contradictions = Contradictions()

    def compared(self) -> list[tuple]:
        """What else its rows are compared with than all importers' are: (rows, which of them count)."""
        return []

    def detail(self) -> dict:
        """What the audit log says of it beside the account. criteria: the questions that its answers are to."""
        return {}


class KeysOfTexts:
    """Which context a row without an id means by its text."""

    def __init__(self, known: Iterable[tuple[list[str], str]] = ()):
        self.of_turns: dict[tuple[str, ...], str] = {}
        self.several: set[tuple[str, ...]] = set()
        for turns, key in known:
            self.add(turns, key)

    def add(self, turns: list[str], key: str) -> None:
        if self.of_turns.setdefault(tuple(turns), key) != key:
            self.several.add(tuple(turns))

    def of(self, turns: list[str]) -> str:
        """Its key; empty where no context has the text. Raises NotAnswered where several have it."""
        if tuple(turns) in self.several:
            raise NotAnswered("has no context_id, and several contexts have its text")
        return self.of_turns.get(tuple(turns), "")


class Corpus(RowsImport):
    """The campaign's texts by name, and the new ones of this file until `store` writes them."""

    keys_from_text = False  # is a context without context_id known by its text?

    def __init__(self, campaign: Campaign, human_systems=(), version: str = ""):
        self.campaign = campaign
        self.human = set(human_systems)
        self.version = version

    def begin(self) -> None:
        before = FormerName.objects.filter(system__campaign=self.campaign).select_related("system")
        self.systems = {f.name: f.system for f in before} | {s.name: s for s in self.campaign.systems.all()}
        self.spellings = Spellings(self.systems, self.spellings_apart)
        self.contexts = {c.key: c for c in self.campaign.contexts.all()}
        self.keys = KeysOfTexts((c.turns, c.key) for c in self.contexts.values())
        checkpoints = Checkpoint.objects.filter(system__campaign=self.campaign).select_related("system")
        self.checkpoints = {(c.system.name, c.name): c for c in checkpoints}
        self.references = {}
        for reference in Reference.objects.filter(context__campaign=self.campaign).select_related("context"):
            self.references.setdefault(reference.context.key, []).append(reference.text)
        self.outputs = {}
        rows = Output.objects.filter(context__campaign=self.campaign, replaced_at=None)
        for output in rows.select_related("system", "checkpoint", "context"):
            checkpoint = output.checkpoint.name if output.checkpoint else ""
            self.outputs[output.context.key, output.system.name, checkpoint, output.sample] = output
        self.new_systems, self.new_contexts, self.new_checkpoints = [], [], []
        self.new_references, self.new_outputs = [], []
        self.other_metadata, self.other_figures = 0, 0  # rows that say something else beside what is here

    def context(self, row: Row) -> Context:
        """A context that is there already needs no text."""
        key = row.name("context_id", default="" if self.keys_from_text else None)
        if row.get("context") is None and key:
            return self.known_context(row, key)
        turns = row.texts("context", required=True)
        key = key or self.keys.of(turns) or key_from(turns)
        group = row.name("group", default="")
        known = self.contexts.get(key)
        metadata = row.metadata() | ({} if row.get("knowledge") is None else {"knowledge": row.get("knowledge")})
        if known is None:
            if roles := [turn["role"] for turn in row.get("context") if isinstance(turn, dict)]:
                metadata = {**metadata, "roles": roles}
            known = Context(campaign=self.campaign, key=key, turns=turns, metadata=metadata, group=group)
            self.contexts[key] = known
            self.keys.add(turns, key)
            self.new_contexts.append(known)
        elif known.turns != turns:
            raise BadField("context", f"differs from the text that context_id {quoted(key)} already has")
        elif known.group != group and (group or known.pk is None):  # a later file need not repeat it
            raise BadField("group", _other_group(group, known))
        elif known.turn and (turns := metadata.get("turns", known.turn[1])) != known.turn[1]:
            conversation = quoted(known.metadata["conversation"])
            raise BadField(
                "turns", f"conversation {conversation} has {turns} turns to judge, and has {known.turn[1]} here already"
            )
        else:
            self.other_metadata += _differs(metadata, known.metadata)
        return known

    def known_context(self, row: Row, key: str) -> Context:
        known = self.contexts.get(key)
        if known is None:
            raise BadField("context", f"is missing, and context_id {quoted(key)} is no context of this campaign")
        group = row.name("group", default="")
        if group and known.group != group:
            raise BadField("group", _other_group(group, known))
        return known

    def known_output(
        self, context: Context, system: System, checkpoint: Checkpoint | None, sample: int | None, field: str
    ) -> Output:
        """The output that is there. Raises BadField where there is none."""
        place = context.key, system.name, checkpoint.name if checkpoint else "", sample or 0
        known = self.outputs.get(place)
        if known is None:
            raise BadField(field, f"is missing, and {self.no_output(*place)}")
        return known

    def no_output(self, context: str, system: str, checkpoint: str, sample: int) -> str:
        """That there is none, and which of the system's outputs for the context are there instead."""
        there = self._there.get((context, system), [])
        has_checkpoints = any(name for name, _ in [*there, (checkpoint, sample)])
        has_samples = any(number for _, number in [*there, (checkpoint, sample)])

        def which(name: str, number: int) -> str:
            of = [f"checkpoint {quoted(name)}" if name else "without a checkpoint"] if has_checkpoints else []
            return ", ".join(of + ([f"sample {number}"] if has_samples else []))

        asked = f" ({which(checkpoint, sample)})" if has_checkpoints or has_samples else ""
        said = f"system {quoted(system)} has no output for context_id {quoted(context)}{asked}"
        if not there:
            return said
        more = f" and {len(there) - LISTED} more" if len(there) > LISTED else ""
        return f"{said}; there are: {'; '.join(which(*one) for one in there[:LISTED])}{more}"

    @cached_property
    def _there(self) -> dict[tuple[str, str], list[tuple[str, int]]]:
        """{(context, system): [(checkpoint, sample)]} of what is there when it is first asked for"""
        found: dict[tuple[str, str], list[tuple[str, int]]] = {}
        for context, system, checkpoint, sample in sorted(self.outputs):
            found.setdefault((context, system), []).append((checkpoint, sample))
        return found

    def system(self, name: str) -> System:
        name = self.spellings.name_of(name)
        known = self.systems.get(name)
        if known is None:
            known = System(campaign=self.campaign, name=name, is_human=name in self.human)
            self.systems[name] = known
            self.new_systems.append(known)
        return known

    def checkpoint(self, row: Row, system: System) -> Checkpoint | None:
        iteration, total = row.whole("iteration"), row.whole("total_iterations")
        name = row.name("checkpoint", default="" if iteration is None else str(iteration))
        if self.version:  # keeps the names of replaced outputs theirs: snapshots go by them
            name = f"{name} ({self.version})"[:200] if name else self.version
        if not name:
            return None
        if iteration is not None and total is not None and iteration > total:
            raise BadField("iteration", f"is {iteration}, beyond total_iterations {total}")
        known = self.checkpoints.get((system.name, name))
        if known is None:
            chosen_at = row.time("chosen_at")
            known = Checkpoint(system=system, name=name, iteration=iteration, total_iterations=total, chosen_at=chosen_at)
            self.checkpoints[system.name, name] = known
            self.new_checkpoints.append(known)
        elif iteration is not None and known.iteration is not None and known.iteration != iteration:
            raise BadField("iteration", f"is {iteration}, but checkpoint {quoted(name)} was given as {known.iteration}")
        elif total is not None and known.total_iterations is not None and known.total_iterations != total:
            said = f"is {total}, but checkpoint {quoted(name)} was given with {known.total_iterations}"
            raise BadField("total_iterations", said)
        return known

    def output(self, context, system, checkpoint, sample, text, field_name, metadata=None) -> Output:
        key = (context.key, system.name, checkpoint.name if checkpoint else "", sample)
        known = self.outputs.get(key)
        if known is None:
            known = Output(
                context=context, system=system, checkpoint=checkpoint, sample=sample, text=text, metadata=metadata or {}
            )
            self.outputs[key] = known
            self.new_outputs.append(known)
        elif known.text != text:
            raise BadField(
                field_name,
                f"differs from the output that system {quoted(system.name)} already has for context_id {quoted(context.key)}; "
                "number several outputs with the field sample",
            )
        else:
            self.other_figures += _differs(metadata or {}, known.metadata)
        return known

    def check(self) -> list[RowError]:
        """What only the whole file shows to be wrong."""
        return []

    def assumed(self) -> list[str]:
        """What was taken for granted about names and texts."""
        unnamed = called_missing("system", (system.name for system in self.new_systems))
        return [*self.spellings.sentences("system"), *unnamed, *self.said_of_texts(), *self.said_beside()]

    def said_beside(self) -> list[str]:
        """Of what stood beside texts that were here, or further up in the file, and is not kept."""
        of_context = "Rows with other metadata or knowledge than their context has from the first of its rows, which stays"
        of_output = "Outputs that are here already, and came with other figures, which are not kept"
        return [f"{what}: {n:,}." for what, n in ((of_context, self.other_metadata), (of_output, self.other_figures)) if n]

    def said_of_texts(self) -> list[str]:
        """Of new outputs that hold nothing, or what a program may have put in the place of a text."""
        empty = sum(not output.text.strip() for output in self.new_outputs)
        said = [f"Empty outputs, kept as what the system wrote: {empty}."] if empty else []
        texts = [output.text.strip() for output in self.new_outputs]
        for what, found in (
            ("a word for a missing value", lambda text: text.lower() in MISSING - {""}),
            ("an error of a spreadsheet, as of a text that begins with =", lambda text: text.lower() in SHEET_ERRORS),
            ("a date as a spreadsheet keeps it, perhaps in the place of 1/2", SHEET_DATE.fullmatch),
        ):
            if words := Counter(filter(found, texts)):
                shown = ", ".join(f"{quoted(word)} ({count})" for word, count in words.most_common(5))
                said.append(f"Some outputs are {what}, and are kept as what the system wrote: {shown}.")
        return said

    def corpus_news(self) -> list[tuple[str, list]]:
        return [
            ("systems", self.new_systems),
            ("checkpoints", self.new_checkpoints),
            ("contexts", self.new_contexts),
            ("references", self.new_references),
            ("outputs", self.new_outputs),
        ]

    def prepare_corpus(self) -> list[Insertion]:
        """What `Insertion.write` stores, in the order in which rows point to each other."""
        insertions = []
        for _, rows in self.corpus_news():
            give_keys(rows)
            insertions.append(Insertion(rows))
        return insertions


def _differs(said: dict, here: dict) -> bool:
    """Does a row say anything that is not here?"""
    return any(here.get(name) != value for name, value in said.items())


def _other_group(group: str, known: Context) -> str:
    given = f"is {quoted(group)}" if group else "is missing"
    group = f"the group {quoted(known.group)}" if known.group else "no group"
    return f"{given}, but context_id {quoted(known.key)} has {group}"
