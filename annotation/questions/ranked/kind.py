"""Several outputs at once, on the whole or on a criterion: a place for each, or the best and the worst alone.

An answer is sent as the places of the texts in the order in which they are shown, "2143" (1 is the best, the same number is a
tie); or, where the best and the worst are asked for, as "2>4", their numbers in that order. It is kept as judgments of pairs
that have the ranking's name, as imported rankings are.
"""

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cache
from typing import Any, ClassVar

from django.utils.translation import gettext, gettext_lazy

from annotation.models import Assignment, Item, Output, PairwiseJudgment
from annotation.questions.columns import RANKING
from annotation.questions.kind import CANNOT_SAY, Given, Question, Widget
from annotation.questions.pair import Pair
from annotation.questions.ranked.method import MOST, judged_pairs, name_of, shown_order
from core.errors import Refused

LETTERS = "ABCDEFG"
BEST, WORST = "best", "worst"
SENT = re.compile(rf"[0-{MOST}]{{2,{MOST}}}|[1-{MOST}]?>[1-{MOST}]?")
INPUT = re.compile(rf"((?:choice|choice_\d{{1,18}}))\.([1-{MOST}]|{BEST}|{WORST})")
WORDS = {BEST: gettext_lazy("The best"), WORST: gettext_lazy("The worst")}
ORDERED = (
    ("<kbd>1</kbd> … <kbd>{n}</kbd>", gettext_lazy("the text’s place, 1 is the best; then comes the next text")),
    ("<kbd>Backspace</kbd>", gettext_lazy("go back to the text before")),
)
ENDS = (("<kbd>1</kbd> … <kbd>{n}</kbd>", gettext_lazy("choose A, B and so on: the best, then the worst")),)


@dataclass(frozen=True)
class Line:
    """One choice among buttons. field: the name of its inputs; called: what they are about; options: (what is sent, its face,
    is it chosen); letter: of the text, where they are about one."""

    field: str
    called: str
    options: Sequence[tuple[str, str, bool]]
    letter: str = ""


class RankedWidget(Widget):
    @property
    def best_worst(self) -> bool:
        return self._kind.best_worst

    @property
    def _kind(self) -> "Ranked":
        return self.question.kind  # type: ignore[return-value]

    @property
    def lines(self) -> list[Line]:
        """A line of places for each text; or the best and the worst, with a button for each text."""
        sent, numbers = self.value or "", range(1, self._kind.n + 1)
        if self.best_worst:
            ends = dict(zip((BEST, WORST), sent.split(">"))) if ">" in sent else {}
            return [
                Line(
                    f"{self.field}.{end}",
                    str(words),
                    [(str(number), LETTERS[number - 1], ends.get(end) == str(number)) for number in numbers],
                )
                for end, words in WORDS.items()
            ]
        return [
            Line(
                f"{self.field}.{text}",
                gettext("Text %(letter)s") % {"letter": LETTERS[text - 1]},
                [(str(place), str(place), sent[text - 1 : text] == str(place)) for place in numbers],
                LETTERS[text - 1],
            )
            for text in numbers
        ]

    @property
    def is_required(self) -> bool:
        """As far as a browser checks it: whoever may not answer fills nothing in."""
        return super().is_required and not self.question.cannot_say


class Ranked(Pair):
    """n: how many texts are shown. Its answers are a pair's, so all that reads answers asks `Pair`."""

    template: ClassVar[str] = "includes/ranked.html"
    script: ClassVar[str] = "js/annotate/ranked.js"

    def __init__(self, n: int, best_worst: bool):
        super().__init__()
        self.n, self.best_worst = n, best_worst

    def keys_of(self, question: Question) -> Sequence[tuple[Any, Any]]:
        return [(keys.format(n=self.n), words) for keys, words in (ENDS if self.best_worst else ORDERED)]

    def posted(self, posted: Mapping[str, str]) -> dict[str, Any]:
        """Of a form of any number of texts. Places and "cannot say" together are neither: who sent them is asked again."""
        said: dict[str, dict[str, str]] = {}
        for name, value in posted.items():
            if (match := INPUT.fullmatch(name)) and re.fullmatch(rf"[1-{MOST}]", value):
                said.setdefault(match[1], {})[match[2]] = value
        answers = super().posted({name: value for name, value in posted.items() if name not in said})
        for field, values in said.items():
            sent = "" if posted.get(field) == CANNOT_SAY else _joined(values)
            _, _, criterion = field.partition("_")
            if criterion:
                answers.setdefault(self.part, {})[int(criterion)] = sent
            else:
                answers["choice"] = sent
        return answers

    def sent(self, answer: Mapping[str, Any], question: Question) -> Any:
        sent = super(Pair, self).sent(answer, question) if question.criterion else answer.get("choice")
        return sent if isinstance(sent, str) and (sent == CANNOT_SAY or SENT.fullmatch(sent)) else None

    def widget(self, question: Question, answer: Mapping[str, Any], was_refused: bool) -> RankedWidget:  # type: ignore[override]
        sent = self.sent(answer, question)
        return RankedWidget(question, sent, was_refused and not self._is_answered(question, sent))

    def given(self, question: Question, sent: Any) -> Given:
        """The value: the rank of each text in the order shown."""
        if sent == CANNOT_SAY and question.cannot_say:
            return Given(None)
        ranks = self._ranks(sent)
        if ranks is None:
            raise Refused(self.please([question]))
        return Given(ranks)

    def _ranks(self, sent: Any) -> list[int] | None:
        """None where it is no whole answer."""
        if not isinstance(sent, str) or not SENT.fullmatch(sent) or (">" in sent) != self.best_worst:
            return None
        if self.best_worst:
            best, worst = (int(number or 0) for number in sent.split(">"))
            if best == worst or not 1 <= min(best, worst) or max(best, worst) > self.n:
                return None
            return [1 if number == best else 3 if number == worst else 2 for number in range(1, self.n + 1)]
        ranks = [int(place) for place in sent]
        return ranks if len(ranks) == self.n and all(1 <= rank <= self.n for rank in ranks) else None

    def please(self, questions: Sequence[Question]) -> str:
        please = (
            gettext("Choose the best text and the worst, two different ones.")
            if self.best_worst
            else gettext("Give each text a place.")
        )
        names = ", ".join(question.criterion.name for question in questions if question.criterion)
        return f"{names}: {please}" if names else please

    def rows(self, question: Question, assignment: Assignment, given: Given, reason: str) -> list[PairwiseJudgment]:
        outputs, order = assignment.item.texts, assignment.order
        place = [order.index(str(number)) for number in range(len(outputs))]
        ranks = [1] * len(outputs) if given.cannot_say else [given.value[shown] for shown in place]
        systems = Output.objects.filter(pk__in=[output.pk for output in outputs]).values_list("system__name", flat=True)
        earlier = Item.objects.filter(context=assignment.item.context_id, cell=assignment.item.cell, pk__lt=assignment.item_id)
        before = earlier.count()  # of these systems, when they had other texts
        name = name_of(systems) + (f"-{before + 1}" if before else "")
        return [
            PairwiseJudgment(
                output_a_id=outputs[i].pk,
                output_b_id=outputs[j].pk,
                criterion=question.criterion,
                choice="" if given.cannot_say else choice,
                cannot_say=given.cannot_say,
                detail={RANKING: name},
                reason=reason,
                shown_swapped=place[j] < place[i],
            )
            for i, j, choice in judged_pairs(ranks, self.best_worst and not given.cannot_say)
        ]

    def in_words(self, sent: Any) -> str:
        """As the person who gave it saw the texts."""
        if sent == CANNOT_SAY:
            return super().in_words(sent)
        if self.best_worst:
            best, worst = (LETTERS[int(number) - 1] for number in sent.split(">"))
            return gettext("The best: %(best)s; the worst: %(worst)s") % {"best": best, "worst": worst}
        by_place: dict[str, list[str]] = {}
        for letter, place in zip(LETTERS, sent):
            by_place.setdefault(place, []).append(letter)
        return "; ".join(f"{place}: {', '.join(by_place[place])}" for place in sorted(by_place))


def _joined(values: Mapping[str, str]) -> str:
    """What single inputs said; 0 for a text that has no place yet."""
    if BEST in values or WORST in values:
        return f"{values.get(BEST, '')}>{values.get(WORST, '')}"
    return "".join(values.get(str(text), "0") for text in range(1, max(map(int, values)) + 1)).ljust(2, "0")


@cache
def ranked_of(n: int, best_worst: bool) -> Ranked:
    """The kind as a campaign asks it of so many texts."""
    return Ranked(n, best_worst)


def order_of(seed: int, position: int, n: int, turn: int, is_swapped: bool) -> str:
    """How an item's person number `turn` sees its n texts; empty for one, or a pair, whose order its sides tell."""
    return shown_order(n, f"{seed}:order:{position}", turn, is_swapped) if n > 2 else ""
