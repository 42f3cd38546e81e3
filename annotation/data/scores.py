"""Scores from a file, and the annotators that a file names."""

from dataclasses import replace
from datetime import datetime
from typing import TypeVar

from django.db.models import F, JSONField, Value

from annotation.campaigns.items import draw_items
from annotation.data.contradictions import Contradictions, place_of
from annotation.data.corpus import Corpus, Imported, RowsImport
from annotation.data.direction import are_ranks, may_be_low
from annotation.data.fields import JUDGES_ARE_PEOPLE
from annotation.data.insertion import Insertion, give_keys
from annotation.data.shapes.values import LANGUAGE_MODEL, number
from annotation.data.spellings import Spellings, called_missing
from annotation.models import Annotator, Assignment, Campaign, Criterion, LikertScore, Output, PairwiseJudgment
from annotation.questions import conditions, registry, store
from annotation.questions.columns import is_no_point
from annotation.questions.conditions import in_words
from annotation.questions.kind import CANNOT_SAY
from annotation.questions.value_kind import ValueKind
from core.errors import Refused, RowError, quoted
from core.rowfiles import BadField, NotAnswered, Row
from core.rows import json_in

Answer = TypeVar("Answer", LikertScore, PairwiseJudgment)
UNSAID = "answers that say they cannot say"
TOOK = ("seconds", "active_seconds")


def came_with(row: Row, *fields: str) -> dict[str, str | float]:
    """What our own exports have beside an answer, and what has no other place where no page sent it: a comment, and how long
    the answer took."""
    filled = [name for name in fields if row.get(name) is not None and not row.is_blank(name)]
    return {name: row.number(name) if name in TOOK else row.text(name) for name in filled}


def came_again(count: int) -> list[str]:
    """What must be said of answers that stand in a file twice, with different comments."""
    return [f"Answers that came again with another comment, of which the first stays: {count:,}."] if count else []


def answered_at(answer: Answer, moment: datetime | None) -> Answer:
    """The answer, given when its row says; without a time, now."""
    if moment is not None:
        answer.created_at = moment
    return answer


def _condition(row: Row) -> dict:
    """What it says of when its criterion was asked, checked only for its form; raises BadField."""
    if not row.get("asked_if") or row.is_blank("asked_if"):
        return {}
    try:
        return conditions.shaped(json_in(row.get("asked_if")))
    except Refused as refused:
        raise BadField("asked_if", str(refused)) from None


class Annotators:
    """The campaign's annotators by name, with the new ones of this file."""

    def __init__(self, campaign: Campaign, simulated: bool, spellings_apart: bool = False):
        self.campaign, self.simulated = campaign, simulated
        self.known = {a.name: a for a in campaign.annotators.all()}
        self.spellings = Spellings(self.known, spellings_apart)
        self.new = []
        self.said: dict[str, bool] = {}  # whether a file calls them simulated
        self.judges = False

    def assumed(self) -> list[str]:
        people = JUDGES_ARE_PEOPLE
        models = [a.name for a in self.new if LANGUAGE_MODEL.search(a.name) and not a.is_simulated]
        if models and not self.judges:
            names = ", ".join(map(quoted, sorted(models)[:5]))
            people = f"The annotators {names} are stored as people, and are called as language models are. If they are models,"
            people += " import the file as what judges said."
        unnamed = called_missing("annotator", (a.name for a in self.new))
        return [*self.spellings.sentences("annotator"), *unnamed, *([people] if self.judges or models else [])]

    def named(self, row: Row) -> Annotator:
        name = self.spellings.name_of(row.name("annotator"))
        simulated = row.truth("simulated") or self.simulated
        if row.get("simulated") not in (None, "") and self.said.setdefault(name, simulated) != simulated:
            raise BadField("simulated", f"is true in some rows of the annotator {quoted(name)} and false in others")
        if row.columns.get("annotator") == "judge":
            self.judges = True
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
        self.criterion_names = Spellings(self.criteria, self.spellings_apart)
        self.new_criteria: list[Criterion] = []
        self.new: dict[tuple, LikertScore] = {}
        self.contradictions = Contradictions(self.way_of_contradictions)
        self.other_comments = 0  # of answers that came again
        answered = store.used_criteria(self.campaign)
        self.open = {c.name for c in self.criteria.values() if c.pk not in answered}  # whose direction can still be said
        self.said: dict[str, str] = {}  # which end of a criterion's scale the file calls the best
        self.first: dict[str, Row] = {}
        self.scaled: set[str] = set()  # criteria whose scale the file states
        self.turned: list[Criterion] = []
        self.suggestions: dict[tuple[int, str], dict | None] = {}  # by output and criterion: {"by", "marks"}; None: no longer
        self.suggested_before = self._suggested_before() if self.asked.takes_suggestions else {}
        self.handed = self._handed_out() if self.suggested_before else set()
        self.in_words: dict[str, dict[str, float]] = {}  # by criterion: {a word of the file: the point that it was read as}
        live = store.about_outputs(self.campaign).filter(retracted_at=None)
        detail = F("detail") if self.asked.is_told_by_detail else Value(None, output_field=JSONField())
        rows = list(live.values_list("criterion__name", "output_id", "annotator__name", "value", detail))
        self.values = {(c, o, a): value for c, o, a, value, _ in rows}
        self.turns = {output.pk: output.context.turn for output in self.corpus.outputs.values()}
        self.conditional: dict[tuple, list[Row]] = {}  # by answer: the rows that give it, where its criterion has a condition
        self.answers = {(c, o, a): self.asked.told(v, beside) for c, o, a, v, beside in rows}

    def take(self, row: Row) -> None:
        said = row.get(self.asked.value_column)
        if self.asked.takes_suggestions and row.truth("suggestion"):
            self.suggest(row, self.output(row), self.criterion(row))
            return
        if (row.is_blank(self.asked.value_column) or is_no_point(said)) and not row.truth(CANNOT_SAY):
            raise NotAnswered(f"has no {self.asked.value_column}{f' ({said.strip()})' if is_no_point(said) else ''}")
        output = self.output(row)
        criterion = self.criterion(row)
        annotator = self.annotators.named(row)
        given = self.asked.imported(row, criterion)
        if isinstance(said, str) and given.value is not None and number(said) is None and "," not in said:
            self.in_words.setdefault(criterion.name, {})[said.strip()] = given.value
        beside, moment = came_with(row, "reason", *TOOK), row.time("answered_at")
        key = (criterion.name, output.pk, annotator.name)
        given = replace(given, detail={**(given.detail or {}), **beside} or None)
        answer = self.asked.imported_row(criterion, output, annotator, given)
        told = self.asked.told(answer.value, answer.detail)
        if key not in self.answers:
            self.contradictions.first(key, row, moment)
        elif self.answers[key] == told:
            self.contradictions.again(key, row, moment)
            if earlier := self.new.get(key):
                self.other_comments += (earlier.detail or {}).get("reason") != beside.get("reason")
            if key in self.conditional:
                self.conditional[key].append(place_of(row))
            return
        else:
            now, before = map(self.asked.told_in_words, (told, self.answers[key]))
            is_ = f"is {now}, but {quoted(annotator.name)} already gave this output {before}"
            self.contradictions.replace(key, row, moment, BadField(self.asked.value_column, is_))
        self.answers[key], self.values[key] = told, answer.value
        self.new[key] = answered_at(answer, moment)
        if criterion.asked_if:
            self.conditional[key] = [place_of(row)]

    def _suggested_before(self) -> dict[tuple[int, str], dict]:
        outputs = Output.objects.filter(context__campaign=self.campaign, metadata__has_key="suggested")
        rows = outputs.values_list("pk", "metadata__suggested")
        return {(pk, name): one for pk, by_criterion in rows for name, one in by_criterion.items()}

    def _handed_out(self) -> set[int]:
        """Outputs that somebody was ever given to judge."""
        return set(Assignment.objects.filter(item__campaign=self.campaign).values_list("item__output_id", flat=True).distinct())

    def suggest(self, row: Row, output: Output, criterion: Criterion) -> None:
        """What annotators begin with. Another takes its place, and none where the row has no marks, as long as nobody was given
        the output: all who judge an output see the same."""
        key = (output.pk, criterion.name)
        before = self.suggestions.get(key, self.suggested_before.get(key))
        if row.is_blank(self.asked.value_column):
            if before is None:
                raise NotAnswered(f"has no {self.asked.value_column}")
            found = None
        else:
            found = self.asked.suggestion(row, criterion, output)
        if before == found:
            return
        if key in self.suggestions:
            raise BadField("suggestion", f"is another than this output has from {quoted((before or {}).get('by', ''))}")
        if before is not None and output.pk in self.handed:
            raise NotAnswered(
                f"changes what is suggested, and annotators were given the output as {quoted(before['by'])} has it"
            )
        self.suggestions[key] = found

    def output(self, row: Row) -> Output:
        context, sample = self.context(row), row.whole("sample", default=0) or 0
        system = self.corpus.spellings.name_of(row.name("system"))
        iteration = row.whole("iteration")
        checkpoint = row.name("checkpoint", default="" if iteration is None else str(iteration))
        if system not in self.corpus.systems:
            raise BadField("system", f"{quoted(system)} is no system of this campaign; import its outputs first")
        place = context, self.corpus.systems[system].name, checkpoint, sample
        output = self.corpus.outputs.get(place)
        if output is None:
            raise BadField("system", self.corpus.no_output(*place).removeprefix("system "))
        return output

    def context(self, row: Row) -> str:
        """Its key."""
        key = row.name("context_id", default="")
        if not key and row.get("context") is not None:
            if known := self.corpus.keys.of(row.texts("context", required=True)):
                return known
            raise BadField("context", "is no context of this campaign; import its outputs first")
        if row.name("context_id") not in self.corpus.contexts:
            raise BadField("context_id", f"{quoted(key)} is no context of this campaign; import its outputs first")
        return key

    def criterion(self, row: Row) -> Criterion:
        name = self.criterion_names.name_of(row.name("aspect", "criterion"))
        if len(name) > 100:
            raise BadField("aspect", "is longer than 100 characters")
        known = self.criteria.get(name)
        if known is None:
            known = Criterion(campaign=self.campaign, name=name, kind=self.asked.name, position=len(self.criteria))
            for field, value in (self.asked.new_settings(row, name) | {"asked_if": _condition(row)}).items():
                setattr(known, field, value)
            self.criteria[name] = known
            self.new_criteria.append(known)
            self.open.add(name)
        elif known.kind != self.asked.name:
            raise BadField("aspect", f"{quoted(name)} is asked as {registry.kind_named(known.kind).title} in this campaign")
        else:
            self._refuse_others(row, known)
        if best := self.asked.imported_settings(row).get("best"):
            self.said[name] = best
        if row.get("scale") is not None:
            self.scaled.add(name)
        self.first.setdefault(name, row)
        return known

    def _refuse_others(self, row: Row, known: Criterion) -> None:
        stated = self.asked.imported_settings(row)
        ends = stated.get("low", known.low), stated.get("high", known.high)
        if ends != (known.low, known.high):
            scale = f"{known.low} to {known.high}"
            raise BadField("scale", f"is {ends[0]} to {ends[1]}, but criterion {quoted(known.name)} has the scale {scale}")
        if stated.get("settings", known.settings) != known.settings:
            raise BadField("scheme", f"is another than criterion {quoted(known.name)} has")
        if (said := _condition(row)) and said != known.asked_if:
            here = in_words(known.asked_if) or "asked of every output"
            raise BadField("asked_if", f"is {quoted(in_words(said))}, but criterion {quoted(known.name)} is {here}")
        if stated.get("best", known.best) != known.best and known.name in self.open and known.name not in self.said:
            known.best = stated["best"]
            if known.pk:
                self.turned.append(known)
        if stated.get("best", known.best) != known.best:
            raise BadField("best", f"is {stated['best']}, but for criterion {quoted(known.name)} it is {known.best}")

    def check(self) -> list[RowError]:
        errors = self._conditions()
        gone = self.contradictions.gone | (set() if errors else self._unasked())
        self.new_answers = [answer for key, answer in self.new.items() if key not in gone]
        return [*self.corpus.check(), *self._directions(), *self._units(), *errors]

    def _conditions(self) -> list[RowError]:
        """Why the criteria can't be asked in this order with these conditions."""
        try:
            conditions.check([*self.criteria.values()])
        except Refused as refused:
            first = next(row for name, row in self.first.items() if self.criteria[name].asked_if)
            return [first.wrong("", BadField("asked_if", f"can't be: {refused}"))]
        return []

    def _unasked(self) -> set[tuple]:
        """The new answers whose condition does not hold, which are left out, and listed. In the order of the criteria, as one
        may wait for another; what the file contradicts is no answer."""
        unasked: set[tuple] = set()
        for name, criterion in self.criteria.items():
            for key in [key for key in self.conditional if key[0] == name and key not in self.contradictions.gone]:
                if not self._is_asked(criterion.asked_if, key, unasked):
                    unasked.add(key)
                    reason = f"{quoted(name)} is {in_words(criterion.asked_if)}, which does not hold"
                    self.contradictions.left_later += [(row, reason) for row in self.conditional[key]]
        return unasked

    def _is_asked(self, asked_if: dict, key: tuple, unasked: set[tuple]) -> bool:
        if conditions.TURN in asked_if:
            return conditions.holds_at(asked_if, self.turns[key[1]])
        decides = (asked_if["criterion"], *key[1:])
        is_gone = decides in unasked or decides in self.contradictions.gone
        return conditions.holds(asked_if, None if is_gone else self.values.get(decides))

    def _unscaled(self) -> dict[str, list[tuple[str, float]]]:
        """{criterion: (annotator, value) of each new answer} where the file states no scale"""
        answers: dict[str, list[tuple[str, float]]] = {}
        for row in self.new_answers:
            if row.criterion.name not in self.scaled and row.value is not None:
                answers.setdefault(row.criterion.name, []).append((row.annotator.name, row.value))
        return answers

    def _units(self) -> list[RowError]:
        found = {name: self.asked.wrong_unit(self.criteria[name], answers) for name, answers in self._unscaled().items()}
        return [self.first[name].wrong("", BadField(self.asked.value_column, wrong)) for name, wrong in found.items() if wrong]

    def _directions(self) -> list[RowError]:
        """What has to be asked: is the lowest value the best?"""
        errors = []
        for name in sorted(self.open.intersection(self.first) - self.said.keys()):
            if may_be_low(name) and self.criteria[name].best == Criterion.Best.HIGH:
                message = f"is not said, and on {quoted(name)} the lowest value may be the best; say best: low, or best: high"
                errors.append(self.first[name].wrong("", BadField("best", message)))
        return errors

    def assumed(self) -> list[str]:
        turned = [f"On {quoted(c.name)} the {c.best}est value is the best, as the file says." for c in self.turned]
        names = [*self.annotators.assumed(), *self.criterion_names.sentences("criterion")]
        said = [*self.corpus.assumed(), *names, *turned, *came_again(self.other_comments)]
        return [*said, *self._words(), *self._ranks(), *self._remarks(), *self._over()]

    def _remarks(self) -> list[str]:
        said = [self.asked.remarks(self.criteria[name], [v for _, v in answers]) for name, answers in self._unscaled().items()]
        return [sentence for sentence in said if sentence]

    def _over(self) -> list[str]:
        """What must be said of answers to outputs for which something is suggested."""
        shown = self.suggested_before | self.suggestions
        over = [(row, found) for row in self.new_answers if (found := shown.get((row.output_id, row.criterion.name)))]
        said = self.asked.unsaid_in_words(over) if over else ""
        return [said] if said else []

    def _words(self) -> list[str]:
        meanings = {name: sorted(words.items(), key=lambda both: both[1]) for name, words in self.in_words.items()}
        return [
            f"On {quoted(name)}, {', '.join(f'{quoted(word)} is {value:g}' for word, value in words)}."
            for name, words in meanings.items()
        ]

    def _ranks(self) -> list[str]:
        by_criterion: dict[str, list[tuple[tuple, float]]] = {}
        for row in self.new_answers:
            if row.criterion.name in self.open - self.said.keys() and row.value is not None:
                key = (row.annotator.name, row.output.context_id)
                by_criterion.setdefault(row.criterion.name, []).append((key, row.value))
        ranks = [name for name, values in by_criterion.items() if are_ranks(values)]
        return [
            f"The values of {quoted(name)} are ranks; the {self.criteria[name].best}est is taken for the best. Say best: "
            f"{'low' if self.criteria[name].best == 'high' else 'high'} if it is not."
            for name in ranks
        ]

    def stored(self) -> int:
        """Of the rows taken, those that bring an answer."""
        return len(self.new_answers) + len(self.suggestions)

    def news(self):
        said = [row for row in self.new_answers if not row.cannot_say]
        unsaid = [row for row in self.new_answers if row.cannot_say]
        made = {None: "suggestions", True: "suggestions changed", False: "suggestions withdrawn"}
        kinds = [made[bool(found) if key in self.suggested_before else None] for key, found in self.suggestions.items()]
        suggested = [(name, [one for one in kinds if one == name]) for name in made.values()]
        answers = [("annotators", self.annotators.new), (self.kind, said), (UNSAID, unsaid)]
        return [("criteria", self.new_criteria), *answers, *suggested]

    def detail(self) -> dict:
        return {"criteria": sorted({row.criterion.name for row in self.new_answers if not row.cannot_say})}

    def prepare(self) -> None:
        """Everything that needs no lock."""
        self.insertions = []
        for rows in (self.new_criteria, self.annotators.new, self.new_answers):
            give_keys(rows)
            self.insertions.append(Insertion(rows))

    def store(self, result: Imported) -> None:
        for insertion in self.insertions:
            insertion.write()
        for criterion in self.turned:
            Criterion.objects.filter(pk=criterion.pk).update(best=criterion.best)
        self.annotators.mark_simulated()
        self._store_suggestions()
        if self.new_answers or self.suggestions:
            if not self.campaign.likert:
                Campaign.objects.filter(pk=self.campaign.pk).update(likert=True)
            draw_items(self.campaign)

    def _store_suggestions(self) -> None:
        outputs = Output.objects.in_bulk({output for output, _ in self.suggestions})
        for (output, name), found in self.suggestions.items():
            metadata = outputs[output].metadata
            metadata["suggested"] = {**metadata.get("suggested", {}), name: found}
            if found is None:
                del metadata["suggested"][name]
        Output.objects.bulk_update(outputs.values(), ["metadata"], batch_size=500)
