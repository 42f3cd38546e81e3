"""Marks that an earlier reader or a model suggested: a second pass keeps, changes, removes or adds to them (ESA-AI: Zouhar et
al. 2025, NAACL). What was suggested stands beside what was kept, so that how far people follow it can be counted."""

from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from typing import Any

from annotation.models import Criterion, Output
from annotation.questions.spans.marks import Mark, span_of
from annotation.questions.spans.method import matched

SUGGESTED, SUGGESTED_BY = "suggested", "suggested_by"  # beside an answer, and in files
FATES = ("kept", "changed", "removed", "added")


def suggestion(output: Output, criterion: Criterion) -> dict[str, Any]:
    """What stands beside an answer about this output: {suggested: marks, suggested_by: whose}; {} where there is none."""
    found = (output.metadata.get(SUGGESTED) or {}).get(criterion.name)
    return {SUGGESTED: found["marks"], SUGGESTED_BY: found["by"]} if found else {}


def fates(suggested: Sequence[Mark], kept: Sequence[Mark]) -> Counter[str]:
    """How many marks were kept as they are, changed (a place that overlaps, severity or category), removed, added."""
    first, second = ([span_of(mark) for mark in marks] for marks in (suggested, kept))
    same = Counter(first) & Counter(second)
    left, new = list((Counter(first) - same).elements()), list((Counter(second) - same).elements())
    changed = len(matched(left, new))
    return Counter(kept=same.total(), changed=changed, removed=len(left) - changed, added=len(new) - changed)


def account(answers: Iterable[Mapping[str, Any]], marks: str) -> dict[str, Any] | None:
    """How many answers were given over suggestions, of whom, and what became of these. answers: with SUGGESTED and SUGGESTED_BY
    beside them; marks: where theirs stand. None where no answer was."""
    total = given = 0
    by: Counter[str] = Counter()
    found: Counter[str] = Counter()
    for answer in answers:
        total += 1
        if answer.get(SUGGESTED_BY):
            given += 1
            by[answer[SUGGESTED_BY]] += 1
            if answer.get(marks) is not None:
                found += fates(answer[SUGGESTED] or [], answer[marks])
    return {"answers": total, "over": given, "by": dict(by), **{name: found[name] for name in FATES}} if given else None


def in_a_sentence(found: Mapping[str, Any] | None) -> str:
    if not found:
        return ""
    whose, suggested = " and ".join(sorted(found["by"])), found["kept"] + found["changed"] + found["removed"]
    kept, changed, removed, added = (f"{found[name]:,}" for name in FATES)
    return (
        f"{found['over']:,} of {found['answers']:,} answers were given over what {whose} had marked before. Of {suggested:,}"
        f" marks that were shown, people kept {kept} as they were, changed {changed} and removed {removed}; they added {added}."
        " Answers lean towards what is suggested."
    )


def unsaid(answers: Iterable[tuple[Mapping[str, Any], Sequence[Mark]]], marks: str) -> str:
    """What an import says where answers to outputs with suggestions name none, and have marks just as these; empty where none
    has. answers: what stands beside each, and what was suggested for its output."""
    found = [fates(suggested, said[marks]) for said, suggested in answers if not said.get(SUGGESTED_BY) and said.get(marks)]
    shown, kept = (sum(of[name] for of in found for name in names) for names in (FATES[:3], FATES[:1]))
    if not kept:
        return ""
    return (
        f"{len(found):,} answers mark errors in outputs that have suggestions and do not say suggested_by: {kept:,} of the"
        f" {shown:,} suggested errors are marked just as suggested. If people began with these, say whose they are in"
        " suggested_by and which in suggested: otherwise no board tells that answers lean towards them."
    )


def of_systems(answers: Iterable[Mapping[str, Any]], marks: str) -> str:
    """How differently suggestions fared by system, of answers with a "system"; empty where they are for one system or none."""
    found: dict[str, Counter[str]] = {}
    for answer in answers:
        if answer.get(SUGGESTED_BY) and answer.get(marks) is not None:
            of = found.setdefault(answer["system"], Counter())
            of.update(fates(answer[SUGGESTED] or [], answer[marks]), answers=1)
    kept = {name: of["kept"] / shown for name, of in found.items() if (shown := of["kept"] + of["changed"] + of["removed"])}
    added = {name: of["added"] / of["answers"] for name, of in found.items()}
    if len(kept) < 2:
        return ""
    (least, *_, most), (fewest, *_, largest) = (sorted(of, key=lambda name: (of[name], name)) for of in (kept, added))
    return (
        f"By system, people kept {kept[least]:.0%} ({least}) to {kept[most]:.0%} ({most}) of the marks that were shown, and"
        f" added {added[fewest]:.2g} ({fewest}) to {added[largest]:.2g} ({largest}) to an output. A system of whose errors more"
        " were missed by who suggested them looks better than it is: people overlook some of what nobody marked before."
    )
