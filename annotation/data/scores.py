"""Scores from a file, and the annotators that a file names."""

from annotation.campaigns.items import draw_items
from annotation.data.corpus import Corpus, Imported, RowsImport
from annotation.data.insertion import Insertion, give_keys
from annotation.data.spellings import Spellings
from annotation.models import Annotator, Campaign, Criterion, Output
from annotation.questions import registry, store
from annotation.questions.kind import CANNOT_SAY
from annotation.questions.value_kind import ValueKind
from core.errors import RowError, quoted
from core.rowfiles import BadField, NotAnswered, Row

UNSAID = "answers that say they cannot say"


class Annotators:
    """The campaign's annotators by name, with the new ones of this file."""

    def __init__(self, campaign: Campaign, simulated: bool, spellings_apart: bool = False):
        self.campaign, self.simulated = campaign, simulated
        self.known = {a.name: a for a in campaign.annotators.all()}
        self.spellings = Spellings(self.known, spellings_apart)
        self.new = []

    def named(self, row: Row) -> Annotator:
        name = self.spellings.name_of(row.name("annotator"))
        simulated = row.truth("simulated") or self.simulated
        if name not in self.known:
            self.known[name] = Annotator(campaign=self.campaign, name=name, is_simulated=simulated)
            self.new.append(self.known[name])
        elif simulated and not self.known[name].is_simulated:
            raise BadField("simulated", f"is true, but the annotator {quoted(name)} is a person here")
        return self.known[name]

    def mark_simulated(self) -> None:
        if any(a.is_simulated for a in self.new):
            Campaign.objects.filter(pk=self.campaign.pk).update(is_simulated=True)


class ScoresImport(RowsImport):
    """Answers about single outputs, to one kind of question."""

    def __init__(self, campaign: Campaign, simulated: bool, asked: ValueKind):
        self.campaign, self.simulated, self.asked, self.kind = campaign, simulated, asked, asked.files

    def begin(self) -> None:
        self.corpus = Corpus(self.campaign)
        self.corpus.spellings_apart = self.spellings_apart
        self.corpus.begin()
        self.annotators = Annotators(self.campaign, self.simulated, self.spellings_apart)
        self.criteria = {c.name: c for c in self.campaign.criteria.all()}
        self.new_criteria, self.new_answers = [], []
        live = store.about_outputs(self.campaign).filter(retracted_at=None)
        rows = live.values_list("criterion__name", "output_id", "annotator__name", "value")
        self.answers = {(c, o, a): v for c, o, a, v in rows}

    def take(self, row: Row) -> None:
        if row.is_blank(self.asked.value_column) and not row.truth(CANNOT_SAY):
            raise NotAnswered(f"has no {self.asked.value_column}")
        output = self.output(row)
        criterion = self.criterion(row)
        annotator = self.annotators.named(row)
        given = self.asked.imported(row, criterion)
        key = (criterion.name, output.pk, annotator.name)
        if key not in self.answers:
            self.answers[key] = given.value
            self.new_answers.append(self.asked.imported_row(criterion, output, annotator, given))
        elif self.answers[key] != given.value:
            now, before = ("empty" if v is None else f"{v:g}" for v in (given.value, self.answers[key]))
            raise BadField(self.asked.value_column, f"is {now}, but {quoted(annotator.name)} already gave this output {before}")

    def output(self, row: Row) -> Output:
        context, sample = self.context(row), row.whole("sample", default=0) or 0
        system = self.corpus.spellings.name_of(row.name("system"))
        iteration = row.whole("iteration")
        checkpoint = row.name("checkpoint", default="" if iteration is None else str(iteration))
        if system not in self.corpus.systems:
            raise BadField("system", f"{quoted(system)} is no system of this campaign; import its outputs first")
        output = self.corpus.outputs.get((context, self.corpus.systems[system].name, checkpoint, sample))
        if output is None:
            which = f" (checkpoint {quoted(checkpoint)}, sample {sample})" if checkpoint or sample else ""
            raise BadField("system", f"{quoted(system)} has no output for context_id {quoted(context)}{which}")
        return output

    def context(self, row: Row) -> str:
        """Its key."""
        key = row.name("context_id", default="")
        if not key and row.get("context") is not None:
            turns = tuple(row.texts("context", required=True))
            if turns not in self.corpus.key_of_turns:
                raise BadField("context", "is no context of this campaign; import its outputs first")
            return self.corpus.key_of_turns[turns]
        if row.name("context_id") not in self.corpus.contexts:
            raise BadField("context_id", f"{quoted(key)} is no context of this campaign; import its outputs first")
        return key

    def criterion(self, row: Row) -> Criterion:
        name = row.name("aspect", "criterion")
        if len(name) > 100:
            raise BadField("aspect", "is longer than 100 characters")
        known = self.criteria.get(name)
        if known is None:
            known = Criterion(campaign=self.campaign, name=name, kind=self.asked.name, position=len(self.criteria))
            for field, value in self.asked.new_settings(row, name).items():
                setattr(known, field, value)
            self.criteria[name] = known
            self.new_criteria.append(known)
        elif known.kind != self.asked.name:
            raise BadField("aspect", f"{quoted(name)} is asked as {registry.kind_named(known.kind).title} in this campaign")
        else:
            self._refuse_others(row, known)
        return known

    def _refuse_others(self, row: Row, known: Criterion) -> None:
        stated = self.asked.imported_settings(row)
        ends = stated.get("low", known.low), stated.get("high", known.high)
        if ends != (known.low, known.high):
            scale = f"{known.low} to {known.high}"
            raise BadField("scale", f"is {ends[0]} to {ends[1]}, but criterion {quoted(known.name)} has the scale {scale}")
        if stated.get("best", known.best) != known.best:
            raise BadField("best", f"is {stated['best']}, but for criterion {quoted(known.name)} it is {known.best}")

    def check(self) -> list[RowError]:
        return self.corpus.check()

    def assumed(self) -> list[str]:
        return [*self.corpus.assumed(), *self.annotators.spellings.sentences("annotator")]

    def stored(self) -> int:
        """Of the rows taken, those that bring an answer."""
        return len(self.new_answers)

    def news(self):
        said = [row for row in self.new_answers if not row.cannot_say]
        unsaid = [row for row in self.new_answers if row.cannot_say]
        return [("criteria", self.new_criteria), ("annotators", self.annotators.new), (self.kind, said), (UNSAID, unsaid)]

    def prepare(self) -> None:
        """Everything that needs no lock."""
        self.insertions = []
        for rows in (self.new_criteria, self.annotators.new, self.new_answers):
            give_keys(rows)
            self.insertions.append(Insertion(rows))

    def store(self, result: Imported) -> None:
        for insertion in self.insertions:
            insertion.write()
        self.annotators.mark_simulated()
        if self.new_answers:
            if not self.campaign.likert:
                Campaign.objects.filter(pk=self.campaign.pk).update(likert=True)
            draw_items(self.campaign)
