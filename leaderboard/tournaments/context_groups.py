"""Groups of contexts that nobody declared: those whose texts are alike and that people's answers show to be judged alike
(`rating.crossed.text_groups`), together with the groups of copies that were made when answers were accepted."""

from collections import Counter
from collections.abc import Mapping
from dataclasses import replace

import numpy as np

from annotation.assessment import snapshot_contents
from annotation.assessment.dependence import PREFIX, count_apart, for_board
from annotation.models import Context, Criterion
from annotation.quality.p_values import p_is
from annotation.questions import registry
from annotation.questions.conditions import depends_on_answers, in_words
from core.errors import Refused
from leaderboard.boards.board import Doubt
from leaderboard.models import Tournament
from leaderboard.rating.crossed.text_groups import MOST_TEXTS, TextGroups, text_groups
from leaderboard.rating.people_board import Reading, components_met, numbered
from leaderboard.tournaments.entrants import Entrants


def grouped(entrants: Entrants, reading: Reading) -> tuple[Entrants, tuple[Doubt, ...]]:
    """The entrants with the groups that these answers show, and what must be said of them. As they are, where nothing is shown,
    or somebody declared a group or let contexts count apart."""
    answered = np.flatnonzero(np.abs(reading.by_context).sum(axis=1) > 0)
    declared = any(name and not name.startswith(PREFIX) for name in entrants.group_names)
    if declared or len(answered) > MOST_TEXTS:
        return entrants, ()
    campaign = entrants.systems[0].campaign
    there = Context.objects.filter(campaign=campaign)
    turns = dict(there.values_list("pk", "turns"))
    texts = ["\n".join(map(str, turns[entrants.contexts[i]])) for i in answered]
    found = text_groups(reading.by_context[answered], texts)
    if found is None:
        return entrants, ()
    if count_apart(campaign):
        return entrants, (Doubt("apart", sentence(found, apart=True)),)
    copies = numbered(entrants.groups[answered])
    together = components_met(found.groups, found.label, copies)[found.label]  # copies are one group, whatever is found
    names = list(entrants.group_names)
    for i, label in zip(answered.tolist(), together.tolist()):
        names[i] = f"alike {label}"
    found = replace(found, label=together, groups=len(np.unique(together)))
    return replace(entrants, group_names=names), (Doubt("texts", sentence(found)),)


OWN = (
    "Each system had conversations of its own, so no two systems answered the same context, and intervals resample whole"
    " conversations. What users brought to a system's conversations counts as the system's: the differences are those of the"
    " systems alone only where users came to them by chance."
)


def own_conversations(entrants: Entrants, answered: np.ndarray) -> tuple[Doubt, ...]:
    """Which population a board is about where systems had conversations of their own. answered: numbers of contexts."""
    return (Doubt("conversations", OWN),) if entrants.are_own(answered) else ()


def dependent(tournament: Tournament) -> tuple[Doubt, ...]:
    """What the assessment noticed of copies and of relative scores, where people's answers make the board."""
    notes = for_board(tournament.campaign, tournament.criterion)
    return tuple(Doubt(note.kind, note.sentence) for note in notes)


def leaning(tournament: Tournament) -> tuple[Doubt, ...]:
    """What must be said where people answered over suggestions of somebody else or of a program."""
    if tournament.snapshot is None:
        return ()
    try:
        found = [
            kind.leaning_in_words(snapshot_contents.rows(tournament.snapshot, kind.files))
            for kind in registry.about_outputs()
            if kind.takes_suggestions
        ]
    except Refused:  # a snapshot without a record of its answers
        return ()
    return tuple(Doubt("suggested", said) for said in found if said)


def asked_of_some(tournament: Tournament) -> tuple[Doubt, ...]:
    """What must be said where the question was asked only after some answers to another."""
    criterion = Criterion.objects.filter(campaign=tournament.campaign_id, name=tournament.criterion).first()
    if tournament.snapshot is None or criterion is None or not depends_on_answers(criterion.asked_if):
        return ()
    decider, asked, all_answers = criterion.asked_if["criterion"], Counter[str](), Counter[str]()
    try:
        for kind in registry.about_outputs():
            for row in snapshot_contents.rows(tournament.snapshot, kind.files):
                asked[row["system"]] += row.get("aspect") == criterion.name
                all_answers[row["system"]] += row.get("aspect") == decider
    except Refused:  # a snapshot without a record of its answers
        return ()
    shares = {name: asked[name] / whole for name, whole in all_answers.items() if whole}
    return (Doubt("asked of some", asked_in_words(criterion, shares)),) if len(shares) > 1 else ()


def asked_in_words(criterion: Criterion, shares: Mapping[str, float]) -> str:
    least, *_, most = sorted(shares, key=lambda name: (shares[name], name))
    return (
        f"{criterion.name} is {in_words(criterion.asked_if)}: of {shares[least]:.0%} ({least}) to {shares[most]:.0%} ({most})"
        " of a system's answers. So these numbers speak of what was asked about, and not of all outputs. A system that is asked"
        " about less is asked about on other contexts and by stricter people. So what a context, or a person, adds to every"
        " system is taken off whole: contexts on which one system alone was asked about say nothing of differences."
    )


def sentence(found: TextGroups, apart: bool = False) -> str:
    n, groups, p = len(found.label), found.groups, found.by_chance
    alike = f"Contexts whose texts are alike were judged alike ({p_is(p)})."
    if apart:
        return (
            f"{alike} They count apart, as a researcher chose, so the {n:,} contexts may tell only as much as {groups:,} groups"
            " would, and intervals may be too narrow."
        )
    return (
        f"{alike} So the {n:,} contexts count as {groups:,} groups, and"
        " differences are known less surely. If you know better which contexts belong together, declare groups."
    )
