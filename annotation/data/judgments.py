"""Judgments of pairs from a file, and pairs whose answer is known. Both bring their texts along."""

from annotation.campaigns.items import draw_items
from annotation.data.contradictions import Contradictions
from annotation.data.corpus import Corpus, Imported
from annotation.data.insertion import Insertion, give_keys
from annotation.data.known import KnownRows
from annotation.data.scores import TOOK, UNSAID, Annotators, answered_at, came_with
from annotation.data.spellings import Spellings, folded
from annotation.models import Campaign, Context, Criterion, Output, PairwiseJudgment
from annotation.outcome import Outcome, outcome_named, side_named
from annotation.questions import store
from annotation.questions.kind import CANNOT_SAY, Given
from annotation.questions.pair import Pair, says_both_bad, shown_left
from core.errors import RowError, quoted
from core.rowfiles import BadField, NotAnswered, Row

LONGEST_REASON = store.REASON_LENGTH


class JudgmentsImport(Corpus):
    """Answers about pairs."""

    keys_from_text = True

    def __init__(self, campaign: Campaign, simulated: bool, asked: Pair):
        super().__init__(campaign)
        self.simulated, self.asked, self.kind = simulated, asked, asked.files

    def begin(self) -> None:
        super().begin()
        self.annotators = Annotators(self.campaign, self.simulated, self.spellings_apart)
        self.criteria = {c.name: c for c in self.campaign.criteria.all()}
        self.criterion_names = Spellings(self.criteria, self.spellings_apart)
        self.known_rows = KnownRows(self.criteria)
        live = store.about_pairs(self.campaign).filter(retracted_at=None)
        names = {output.pk: key for key, output in self.outputs.items()}
        self.judgments: dict[tuple, Outcome | None] = {}
        self.both_bad: set[tuple] = set()
        for j in live.select_related("annotator", "criterion"):
            if j.output_a_id in names and j.output_b_id in names:  # not of a text that was replaced since
                about, said = j.criterion.name if j.criterion else "", Outcome(j.choice) if j.choice else None
                key = (names[j.output_a_id], names[j.output_b_id], j.annotator.name, about)
                self.judgments[key] = said
                if says_both_bad(j.detail):
                    self.both_bad.add(key)
        self.new: dict[tuple, PairwiseJudgment] = {}
        self.contradictions = Contradictions(self.way_of_contradictions)
        self.cut, self.other_ties = 0, 0

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
        annotator, left = self.annotators.named(row), shown_left(row)
        criterion = self.criterion(row)
        given = self.given(row, criterion)
        choice = given.value
        reason, moment = self.reason(row), row.time("answered_at")
        detail = {**(given.detail or {}), **came_with(row, *TOOK)} or None
        key_a, key_b = self.key(a), self.key(b)
        if key_a > key_b:  # one stored order for a pair, whichever side it was shown on
            a, b, key_a, key_b, choice = b, a, key_b, key_a, choice and choice.swap()
            left = left and {"A": "B", "B": "A"}[left]
        key = (key_a, key_b, annotator.name, criterion.name if criterion else "")
        if key not in self.judgments:
            self.contradictions.first(key, row, moment)
        elif self.judgments[key] == choice:
            self.contradictions.again(key, row, moment)
            self.other_ties += says_both_bad(given.detail) != (key in self.both_bad)
            return
        else:
            wrong = BadField("choice", f"is not what {quoted(annotator.name)} already said about this pair")
            self.contradictions.replace(key, row, moment, wrong)
        self.judgments[key] = choice
        (self.both_bad.add if says_both_bad(given.detail) else self.both_bad.discard)(key)
        swapped = None if left is None else left == "B"
        answer = self.asked.imported_row(criterion, a, b, annotator, Given(choice, detail), reason, swapped)
        self.new[key] = answered_at(answer, moment)

    def given(self, row: Row, criterion: Criterion | None) -> Given:
        """A name that is one side's system, and not the other's, is that side."""
        word = row.fields.get("choice")
        sides = {side: self.spellings.name_of(row.name(f"system_{side}")) for side in "ab"}
        if isinstance(word, str):
            try:
                ours = row.columns.get("choice", "choice") == "choice"
                named = side_named(folded(word), folded(sides["a"]), folded(sides["b"]), ours)
            except ValueError as unclear:
                raise BadField("choice", str(unclear)) from unclear
            if named and outcome_named(word) is None:
                return Given(named)
        return self.asked.imported(row, criterion)

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
        ties = f"{self.other_ties} ties were stored before with another word on whether both are bad; they stay as they were."
        people = self.annotators.assumed() + self.criterion_names.sentences("criterion")
        return [*super().assumed(), *people, *cut, *([ties] if self.other_ties else [])]

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
        if (self.new_judgments or self.known_rows.rows) and not self.campaign.pairwise:
            Campaign.objects.filter(pk=self.campaign.pk).update(pairwise=True)
        self.known_rows.store(self.campaign, result)
        if items := draw_items(self.campaign):
            result.add("items", items)
