"""The Human Evaluation Datasheet of a campaign: what it knows itself, and what its researchers wrote of the rest. A fact stays
a fact, whatever was written before it was known; their words then stand beside it."""

import re
from collections.abc import Sequence
from dataclasses import dataclass

from annotation.assessment.datasheet import facts
from annotation.assessment.datasheet.facts import Said
from annotation.assessment.datasheet.languages import NONE, numbers_of
from annotation.assessment.datasheet.questions import BY_NUMBER, QUESTIONS, HedsQuestion
from annotation.models import Campaign, Criterion, DatasheetAnswer, Snapshot

INSTRUCTION = re.compile(r" \((?:please|enter)[^)]*(?:\(s\))?\)\.?$")
LETTERS = "abcdefghijklmnopqrstuvwxyz"
REST = "The rest: to be written."


@dataclass(frozen=True)
class SheetAnswer:
    """A question, and what is said to it. criterion: of a question on one, None for pairs on the whole; letter: its section's,
    where there are several. fact: of the campaign; own: of its researchers; written_for: the criterion's former name, where
    they wrote it before it was renamed."""

    question: HedsQuestion
    fact: Said | None
    own: Said | None = None
    criterion: Criterion | None = None
    letter: str = ""
    written_for: str = ""

    @property
    def number(self) -> str:
        return f"4{self.letter}{self.question.number[1:]}" if self.letter else self.question.number

    @property
    def is_asked(self) -> bool:
        """Does it want the researchers' words?"""
        return self.fact is None or self.fact.is_partial

    @property
    def text(self) -> str:
        """What is said beside options, or without them."""
        rest = REST if self.fact and self.is_asked and not self.own else ""
        before = f"(written for “{self.written_for}”)" if self.written_for else ""
        return " ".join(filter(None, (self.fact.text if self.fact else "", before, self.own.text if self.own else "", rest)))

    @property
    def chosen(self) -> list[int]:
        return sorted({*(self.fact.chosen if self.fact else ()), *(self.own.chosen if self.own else ())})

    @property
    def answer(self) -> str | None:
        """All of it in words; None where nobody has said anything."""
        options = "; ".join(INSTRUCTION.sub("", words) for place, words in self.question.choices if place in self.chosen)
        return ": ".join(filter(None, (options.rstrip(".") if self.text else options, self.text))) or None

    @property
    def languages(self) -> tuple[list[int], bool, bool]:
        """Of a question about languages: (those that the form lists, is something else named, is there none)."""
        if self.text.strip().casefold() in (NONE.casefold(), "none"):
            return [], False, True
        return *numbers_of(self.text), False


def datasheet(campaign: Campaign, snapshot: Snapshot | None) -> list[SheetAnswer]:
    """Every question in the sheet's order; section 4 once for each criterion, 4a, 4b, ... where there are several."""
    rows = snapshot.decisions.select_related("criterion").order_by("-on_pairs") if snapshot else ()
    decisions = {decision.criterion_id: decision for decision in rows}
    written = {(row.number, row.criterion_id): row for row in of_this_sheet(campaign)}
    known = facts.of_campaign(campaign, snapshot, decisions)

    def answered(questions: Sequence[HedsQuestion], known: facts.Facts, criterion=None, letter: str = "") -> list[SheetAnswer]:
        answers = []
        for question in questions:
            row = written.get((question.number, criterion and criterion.pk))
            own, former = said(row), row.about if row and criterion and row.about != criterion.name else ""
            answers.append(SheetAnswer(question, known.get(question.number), own, criterion, letter, former))
        return answers

    sheet = answered([q for q in QUESTIONS if q.number < "4"], known)
    sections = asked_on(campaign, None in decisions)
    for n, criterion in enumerate(sections):
        letter = LETTERS[n % 26] if len(sections) > 1 else ""
        of_it = facts.of_criterion(campaign, criterion, snapshot, decisions.get(criterion.pk if criterion else None))
        sheet += answered([q for q in QUESTIONS if q.by_criterion], of_it, criterion, letter)
    return sheet + answered([q for q in QUESTIONS if q.number >= "5"], known)


def asked_on(campaign: Campaign, judged_as_pairs: bool = False) -> list[Criterion | None]:
    """What section 4 is about: the criteria, and pairs on the whole (None) where these are or were judged."""
    criteria: list[Criterion | None] = [*campaign.criteria.all()]
    return [*criteria, None] if judged_as_pairs or (campaign.pairwise and not campaign.pairwise_by_criterion) else criteria


def of_this_sheet(campaign: Campaign):
    """What was written to questions that are there still."""
    return campaign.datasheet_answers.filter(number__in=BY_NUMBER).exclude(criterion=None, about__gt="")


def left_over(campaign: Campaign):
    """What was written on criteria that are gone, or to questions that no datasheet has any more."""
    return campaign.datasheet_answers.exclude(pk__in=of_this_sheet(campaign).values("pk"))


def said(row: DatasheetAnswer | None) -> Said | None:
    return Said(tuple(row.chosen), row.text) if row else None


def counts(sheet: list[SheetAnswer]) -> tuple[int, int]:
    """(how many questions that the campaign can't answer have an answer, how many there are)"""
    asked = [one for one in sheet if one.is_asked]
    return sum(one.own is not None for one in asked), len(asked)
