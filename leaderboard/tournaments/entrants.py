"""What plays: the outputs of a campaign's systems as they were when a tournament was recorded."""

from collections.abc import Collection
from dataclasses import dataclass, replace
from datetime import datetime
from functools import cached_property

import numpy as np
from django.db.models import Max, Q

from annotation.checkpoints import of_newest_checkpoints
from annotation.models import Campaign, Context, Output, System
from annotation.snapshots import former_names, output_names
from core.rows import TURN
from leaderboard.models import Tournament


@dataclass(frozen=True)
class Entrants:
    """Systems, contexts and outputs, numbered from 0 by their names and keys. `contexts` are all the campaign's."""

    systems: list[System]
    contexts: list[int]  # ids
    outputs: list[Output]  # in the order of system, context, sample; without their texts
    former: dict[int, list[str]]  # by a system's id, what it was called before
    group_names: list[str]  # (contexts,), "" where a context has none
    of_conversations: frozenset[int] = frozenset()  # ids of contexts that are turns of conversations

    @cached_property
    def system_of(self) -> np.ndarray:
        """(outputs,) the number of each output's system."""
        number = {system.pk: i for i, system in enumerate(self.systems)}
        return np.array([number[output.system_id] for output in self.outputs], dtype=np.int64)

    @cached_property
    def context_of(self) -> np.ndarray:
        """(outputs,) the number of each output's context."""
        number = {pk: i for i, pk in enumerate(self.contexts)}
        return np.array([number[output.context_id] for output in self.outputs], dtype=np.int64)

    @cached_property
    def groups(self) -> np.ndarray:
        """(contexts,) the number of each context's group. A context without a group is its own."""
        numbers: dict[str | int, int] = {}
        named = zip(self.contexts, self.group_names, strict=True)
        return np.array([numbers.setdefault(name or pk, len(numbers)) for pk, name in named], dtype=np.int64)

    def units(self, contexts: np.ndarray) -> int:
        """How many independent units these contexts are: their groups."""
        return len(np.unique(self.groups[contexts]))

    def are_own(self, contexts: np.ndarray) -> bool:
        """Are these contexts turns of conversations that each system had by itself?"""
        meetings = np.unique(np.stack([self.context_of, self.system_of]), axis=1)  # each system on each of its contexts
        systems = np.bincount(meetings[0], minlength=len(self.contexts))[contexts]
        turns = all(self.contexts[i] in self.of_conversations for i in contexts.tolist())
        return turns and len(systems) > 0 and bool((systems == 1).all())

    def only(self, ids: Collection[int]) -> "Entrants":
        """The outputs with these ids; a system that is left without any does not play."""
        outputs = [output for output in self.outputs if output.pk in ids]
        left = {output.system_id for output in outputs}
        return replace(self, outputs=outputs, systems=[system for system in self.systems if system.pk in left])

    @cached_property
    def number_of(self) -> dict[tuple, int]:
        """An output's number by the names that a snapshot uses, whenever it was taken."""
        return {place: i for i, output in enumerate(self.outputs) for place in output_names(output, self.former)}

    @cached_property
    def answers(self) -> dict[tuple[int, int], list[int]]:
        """(system, context) -> numbers of its outputs there; several where they are samples."""
        found: dict[tuple[int, int], list[int]] = {}
        for i, where in enumerate(zip(self.system_of.tolist(), self.context_of.tolist())):
            found.setdefault(where, []).append(i)
        return found

    def contexts_by_pair(self) -> dict[tuple[int, int], list[int]]:
        """(i, j), i < j -> the contexts that both systems answered."""
        answered = [set() for _ in self.systems]
        for system, context in self.answers:
            answered[system].add(context)
        n = len(self.systems)
        return {(i, j): sorted(answered[i] & answered[j]) for i in range(n) for j in range(i + 1, n)}


def bounds() -> dict:
    """What is there now. A tournament keeps this, so that one that waits or is resumed plays what it was asked to."""
    return {
        "last_output": Output.objects.aggregate(Max("pk"))["pk__max"] or 0,
        "last_context": Context.objects.aggregate(Max("pk"))["pk__max"] or 0,
    }


def entrants_of(tournament: Tournament) -> Entrants:
    """What was there when the tournament was recorded."""
    then, settings = tournament.created_at, tournament.settings
    there = Q(replaced_at=None) | Q(replaced_at__gt=then)
    there &= Q(system__retired_at=None) | Q(system__retired_at__gt=then)
    there &= Q(pk__lte=settings["last_output"])
    return _entrants(tournament.campaign, there, Q(pk__lte=settings["last_context"]), then)


def has_changed(campaign: Campaign, tournament: Tournament) -> bool:
    """Have outputs come, systems retired, or checkpoints been chosen, since the tournament was recorded?"""
    then, settings = tournament.created_at, tournament.settings
    new = Q(pk__gt=settings["last_output"]) | Q(context_id__gt=settings["last_context"])
    new |= Q(replaced_at__gt=then) | Q(system__retired_at__gt=then) | Q(checkpoint__chosen_at__gt=then)
    return Output.objects.filter(new, context__campaign=campaign).exists()


def current_entrants(campaign: Campaign) -> Entrants:
    """What is there now."""
    return _entrants(campaign, Q(replaced_at=None, system__retired_at=None), Q())


def _entrants(campaign: Campaign, which_outputs: Q, which_contexts: Q, then: datetime | None = None) -> Entrants:
    """A system that has checkpoints plays with its newest one; any other with all its outputs. In the order of names and keys,
    so that no digit depends on the order in which rows came in. then: when."""
    there = campaign.contexts.filter(which_contexts)
    contexts = sorted(there.values_list("key", "pk", "group"))
    turns = dict(there.filter(metadata__has_keys=TURN).order_by().values_list("pk", f"metadata__{TURN[0]}"))
    found = (
        Output.objects.filter(which_outputs, context__campaign=campaign)
        .select_related("context", "system", "checkpoint")
        .defer("text", "metadata", "context__turns", "context__metadata", "system__description")
        .order_by("pk")
    )
    playing = sorted(of_newest_checkpoints(found, then), key=lambda o: (o.system.name, o.context.key, o.sample, o.pk))
    systems = {output.system_id: output.system for output in playing}
    groups = {pk: group or str(turns.get(pk, "")) for _, pk, group in contexts}  # `Context.source`
    former = former_names(campaign)
    by_name = sorted(systems.values(), key=lambda system: system.name)
    return Entrants(by_name, list(groups), playing, former, list(groups.values()), frozenset(turns))
