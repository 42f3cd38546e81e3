"""Judgments of pairs from a file, and pairs whose answer is known. Both bring their texts along."""

from collections import Counter

from annotation.campaigns.items import draw_items
from annotation.data.contradictions import Contradictions
from annotation.data.corpus import Corpus, Imported
from annotation.data.insertion import Insertion, give_keys
from annotation.data.known import KnownRows
from annotation.data.scores import TOOK, UNSAID, Annotators, answered_at, came_again, came_with
from annotation.data.spellings import Spellings, folded
from annotation.models import Campaign, Context, Criterion, Output, PairwiseJudgment
from annotation.outcome import MARKS, NEITHER, Outcome, mark_of, outcome_named, points_of, side_and_strength, side_named
from annotation.questions import store
from annotation.questions.columns import RANKING, choice_in_words
from annotation.questions.kind import CANNOT_SAY, Given
from annotation.questions.pair import SAID_AS, Pair, pair_of, shown_left
from annotation.questions.strength import BESIDE, STRENGTH, said_strength, says_both_bad
from core.errors import RowError, quoted
from core.rowfiles import BadField, NotAnswered, Row

LONGEST_REASON = store.REASON_LENGTH
NO_SIDES = "There is no column shown_left, so A is taken to have stood on the left: {}. Where nobody knows, leave it empty."


class JudgmentsImport(Corpus):
    """Answers about pairs."""

    keys_from_text = True

    def __init__(self, campaign: Campaign, simulated: bool, asked: Pair):
        super().__init__(campaign)
        self.simulated, self.kind = simulated, asked.files
        self.asked = pair_of(campaign.pair_points, campaign.pair_both_bad)

    def begin(self) -> None:
        super().begin()
        self.annotators = Annotators(self.campaign, self.simulated, self.spellings_apart)
        self.criteria = {c.name: c for c in self.campaign.criteria.all()}
        self.criterion_names = Spellings(self.criteria, self.spellings_apart)
        self.known_rows = KnownRows(self.criteria)
        live = store.about_pairs(self.campaign).filter(retracted_at=None)
        names = {output.pk: key for key, output in self.outputs.items()}
        self.judgments: dict[tuple, Outcome | None] = {}
        self.beside: dict[tuple, dict] = {}  # what is kept beside a choice
        for j in live.select_related("annotator", "criterion"):
            if j.output_a_id in names and j.output_b_id in names:  # not of a text that was replaced since
                about, said = j.criterion.name if j.criterion else "", Outcome(j.choice) if j.choice else None
                key = (names[j.output_a_id], names[j.output_b_id], j.annotator.name, about)
                self.judgments[key] = said
                self.beside[key] = _beside(j.detail)
        self.was_judged = bool(self.judgments)
        self.new: dict[tuple, PairwiseJudgment] = {}
        self.contradictions = Contradictions(self.way_of_contradictions)
        self.cut, self.other_beside, self.neither, self.numbers, self.marked = 0, 0, 0, 0, 0
        self.scales: Counter[str] = Counter()  # of numbers in choices
        self.other_comments = 0  # of answers that came again
        self.sides = 0  # rows that do not say which side stood on the left

    def take(self, row: Row) -> None:
        context = self.context(row)
        a, b = self.side(row, context, "a"), self.side(row, context, "b")
        if a is b:
            raise BadField("system_b", "names the same output as system_a; a pair needs two")
        if not self.known_rows.take(row, a, b):
            if row.is_blank("choice") and not row.truth(CANNOT_SAY):
                raise NotAnswered("has no choice")
            self.judgment(row, a, b)

    def judgment(self, row: Row, a: Output, b: Output) -> None:
        row = self.on_scale(row)
        annotator, left = self.annotators.named(row), shown_left(row)
        self.sides += "shown_left" not in row.fields
        criterion = self.criterion(row)
        given = self.ranked(row, self.given(row, criterion))
        choice = given.value
        self.neither += str(row.get("choice")).strip().lower() in NEITHER
        self.numbers += choice in (Outcome.A, Outcome.B) and str(row.get(STRENGTH)).strip() in SAID_AS
        reason, moment = self.reason(row), row.time("answered_at")
        detail = {**(given.detail or {}), **came_with(row, *TOOK)} or None
        key_a, key_b = self.key(a), self.key(b)
        if key_a > key_b:  # one stored order for a pair, whichever side it was shown on
            a, b, key_a, key_b, choice = b, a, key_b, key_a, choice and choice.swap()
            left = left and {"A": "B", "B": "A"}[left]
        key = (key_a, key_b, annotator.name, criterion.name if criterion else "")
        if key not in self.judgments:
            self.contradictions.first(key, row, moment)
        elif self.judgments[key] == choice and (key not in self.new or self.beside[key] == _beside(given.detail)):
            self.contradictions.again(key, row, moment)
            self.other_beside += _beside(given.detail) != self.beside[key]
            self.other_comments += key in self.new and self.new[key].reason != reason
            return
        else:
            wrong = BadField("choice", f"is not what {quoted(annotator.name)} already said about this pair")
            self.contradictions.replace(key, row, moment, wrong)
        self.judgments[key] = choice
        self.beside[key] = _beside(given.detail)
        swapped = None if left is None else left == "B"
        answer = self.asked.imported_row(criterion, a, b, annotator, Given(choice, detail), reason, swapped)
        self.new[key] = answered_at(answer, moment)

    def on_scale(self, row: Row) -> Row:
        """With its choice in words, where it is a number on a scale that the file states."""
        named = choice_in_words(row)
        if named is not row:
            self.scales[str(row.get("choice_scale"))] += 1
        elif isinstance(word := row.get("choice"), str) and MARKS.get(mark_of(word), ("", ""))[1] == "slightly":
            self.marked += 1
        return named

    def given(self, row: Row, criterion: Criterion | None) -> Given:
        """A name that is one side's system, and not the other's, is that side."""
        word = row.fields.get("choice") if not row.truth(CANNOT_SAY) else None
        sides = {side: self.spellings.name_of(row.name(f"system_{side}")) for side in "ab"}
        if isinstance(word, str):
            try:
                ours = row.columns.get("choice", "choice") == "choice"
                named = side_named(folded(word), folded(sides["a"]), folded(sides["b"]), ours)
            except ValueError as unclear:
                raise BadField("choice", str(unclear)) from unclear
            if named and outcome_named(word) is None:
                is_name = folded(word) in map(folded, sides.values())
                strength = self.asked.strength(row, named, "" if is_name else side_and_strength(folded(word))[1])
                return Given(named, {STRENGTH: strength} if strength else None)
        return self.asked.imported(row, criterion)

    @staticmethod
    def ranked(row: Row, given: Given) -> Given:
        """With the ranking that the pair was in, if it was in one."""
        name = row.name(RANKING, default="")
        return Given(given.value, (given.detail or {}) | {RANKING: name}) if name and not given.cannot_say else given

    def reason(self, row: Row) -> str:
        """As long as a comment on the page may be; a longer one is cut, and that is said."""
        text = row.text("reason", empty=True, default="")
        if len(text) > LONGEST_REASON:
            self.cut += 1
            text = text[: LONGEST_REASON - 1] + "…"
        return text

    def check(self) -> list[RowError]:
        self.new_judgments = [answer for key, answer in self.new.items() if key not in self.contradictions.gone]
        return super().check()

    def assumed(self) -> list[str]:
        cut = [f"{self.cut} comments were longer than {LONGEST_REASON} characters and are cut."] if self.cut else []
        other = f"{self.other_beside} answers were stored before with another word on how much better, or whether both are bad;"
        stay = [f"{other} they stay as they were."] if self.other_beside else []
        neither = (
            [f"Answers 'neither' are read as 'both are bad', which rates as a tie: {self.neither}."] if self.neither else []
        )
        people = self.annotators.assumed() + self.criterion_names.sentences("criterion")
        sides = [NO_SIDES.format(self.sides)] if self.sides else []
        cut += came_again(self.other_comments)
        return [*super().assumed(), *people, *sides, *cut, *stay, *neither, *self._strengths(), *self._both_bad()]

    def points(self) -> int:
        """On how many points pairs are judged from then on: as many as the file's answers have, where the campaign has none."""
        decided = [row for row in self.new_judgments if row.choice in ("A", "B")]
        strengths = {said_strength(row.detail) for row in decided}
        if self.asked.is_graded or self.was_judged:
            return self.campaign.pair_points
        if self.scales:
            return max(points_of(scale)[2] for scale in self.scales)
        if not {"slightly", "much"} <= strengths:
            return self.campaign.pair_points
        return 7 if "" in strengths else 5

    def _strengths(self) -> list[str]:
        numbers = ["The strengths 1, 2 and 3 are read as slightly, better and much."] if self.numbers else []
        arena_hard = f"'A > B' is read as 'A is slightly better', beside '>>' for much, as Arena-Hard writes it: {self.marked}."
        marked = [arena_hard] if self.marked else []
        return [*numbers, *self._scales(), *marked, *self._graded()]

    def _scales(self) -> list[str]:
        ends = {scale: points_of(scale) for scale in self.scales}
        return [
            f"Numbers in choices are read from {first}, the best of A, to {last}, the best of B, on {points} points:"
            f" {self.scales[scale]}."
            for scale, (first, last, points) in ends.items()
        ]

    def _graded(self) -> list[str]:
        """What becomes of answers that say how much better where the campaign does not ask it."""
        graded = sum(bool(said_strength(row.detail)) for row in self.new_judgments)
        if not graded or self.asked.is_graded:
            return []
        if (points := self.points()) > 3:
            return [f"{graded} answers say how much better one is, so pairs are judged on {points} points."]
        return [f"{graded} answers say how much better one is. It is kept and exported; agreement reads A, tie and B alone."]

    def asks_both_bad(self) -> bool:
        """May pairs be answered so from then on? As the file's are, where the campaign has no answers."""
        return self.campaign.pair_both_bad or not self.was_judged and self._bad() > 0

    def _bad(self) -> int:
        return sum(says_both_bad(row.detail) for row in self.new_judgments)

    def _both_bad(self) -> list[str]:
        """What becomes of answers that both are bad where the campaign does not offer that."""
        bad = 0 if self.campaign.pair_both_bad else self._bad()
        then = (
            "so pairs may be answered so"
            if self.asks_both_bad()
            else "which is kept and rates as a tie; pairs are not asked so"
        )
        return [f"{bad} answers say that both are bad, {then}."] if bad else []

    def detail(self) -> dict:
        said = {row.criterion.name if row.criterion else "" for row in self.new_judgments if not row.cannot_say}
        return super().detail() | {"criteria": sorted(said)}

    def stored(self) -> int:
        """Of the rows taken, those that bring an answer."""
        return len(self.new_judgments) + len(self.known_rows.rows)

    def criterion(self, row: Row) -> Criterion | None:
        """Empty: which is better on the whole."""
        name = self.criterion_names.name_of(row.name("aspect", "criterion", default=""))
        if name and name not in self.criteria:
            raise BadField("aspect", f"{quoted(name)} is not a criterion of this campaign; pairs are judged on its criteria")
        return self.criteria.get(name)

    def side(self, row: Row, context: Context, side: str) -> Output:
        system = self.system(row.name(f"system_{side}"))
        sample = row.whole(f"sample_{side}", default=0)
        checkpoint = row.name(f"checkpoint_{side}", default="")
        known = self.checkpoints.get((system.name, checkpoint))
        if checkpoint and known is None:
            raise BadField(
                f"checkpoint_{side}", f"{quoted(checkpoint)} is no checkpoint of {quoted(system.name)} in this campaign"
            )
        if row.get(f"output_{side}") is None:
            return self.known_output(context, system, known, sample, f"output_{side}")
        text = row.text(f"output_{side}", empty=True)
        return self.output(context, system, known, sample, text, f"output_{side}")

    @staticmethod
    def key(output: Output) -> tuple:
        """The order in which a pair is stored: by names, so that it does not depend on what came first."""
        checkpoint = output.checkpoint.name if output.checkpoint else ""
        return output.context.key, output.system.name, checkpoint, output.sample

    def news(self):
        return [
            *self.corpus_news(),
            ("annotators", self.annotators.new),
            (self.kind, [row for row in self.new_judgments if not row.cannot_say]),
            (UNSAID, [row for row in self.new_judgments if row.cannot_say]),
            ("known answers", self.known_rows.rows),
        ]

    def prepare(self) -> None:
        """Everything that needs no lock."""
        self.insertions = self.prepare_corpus()
        for rows in (self.annotators.new, self.new_judgments):
            give_keys(rows)
            self.insertions.append(Insertion(rows))

    def store(self, result: Imported) -> None:
        for insertion in self.insertions:
            insertion.write()
        self.annotators.mark_simulated()
        if self.new_judgments or self.known_rows.rows:
            asked = {"pair_points": self.points(), "pair_both_bad": self.asks_both_bad()}
            Campaign.objects.filter(pk=self.campaign.pk).update(pairwise=True, **asked)
        self.known_rows.store(self.campaign, result)
        if items := draw_items(self.campaign):
            result.add("items", items)


def _beside(detail: dict | None) -> dict:
    """What is said of a choice by more than its side. The same pair in two rankings is one answer."""
    return {name: detail[name] for name in BESIDE if detail.get(name) and name != RANKING} if detail else {}
