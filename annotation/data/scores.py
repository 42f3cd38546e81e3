"""Scores from a file, and the annotators that a file names."""

from annotation.campaigns.items import draw_items
from annotation.data.corpus import Corpus, Imported
from annotation.data.insertion import Insertion, give_keys
from annotation.data.spellings import Spellings
from annotation.models import Annotator, Campaign, Criterion, LikertScore, Output
from core.errors import RowError, quoted
from core.rowfiles import BadField, NotAnswered, Row


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


class ScoresImport:
    kind = "scores"
    keeps_columns = False
    spellings_apart = False

    def __init__(self, campaign: Campaign, simulated: bool):
        self.campaign, self.simulated = campaign, simulated

    def begin(self) -> None:
        self.corpus = Corpus(self.campaign)
        self.corpus.spellings_apart = self.spellings_apart
        self.corpus.begin()
        self.annotators = Annotators(self.campaign, self.simulated, self.spellings_apart)
        self.criteria = {c.name: c for c in self.campaign.criteria.all()}
        self.new_criteria, self.new_scores = [], []
        live = LikertScore.objects.filter(criterion__campaign=self.campaign, retracted_at=None)
        rows = live.values_list("criterion__name", "output_id", "annotator__name", "value")
        self.scores = {(c, o, a): v for c, o, a, v in rows}

    def take(self, row: Row) -> None:
        if row.is_blank("score"):
            raise NotAnswered("has no score")
        output = self.output(row)
        criterion = self.criterion(row)
        annotator = self.annotators.named(row)
        value = row.number("score")
        if not criterion.low <= value <= criterion.high:
            scale = f"{criterion.low} to {criterion.high}"
            raise BadField("score", f"is {value:g}, outside the scale {scale} of {quoted(criterion.name)}")
        key = (criterion.name, output.pk, annotator.name)
        if key not in self.scores:
            self.scores[key] = value
            self.new_scores.append(LikertScore(criterion=criterion, output=output, annotator=annotator, value=value))
        elif self.scores[key] != value:
            raise BadField("score", f"is {value:g}, but {quoted(annotator.name)} already gave this output {self.scores[key]:g}")

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
        scale = _scale(row)
        known = self.criteria.get(name)
        if known is None:
            if scale is None:
                raise BadField("scale", f"is missing, and {quoted(name)} is a new criterion; expected [lowest, highest]")
            known = Criterion(campaign=self.campaign, name=name, low=scale[0], high=scale[1], position=len(self.criteria))
            self.criteria[name] = known
            self.new_criteria.append(known)
        elif scale is not None and scale != (known.low, known.high):
            stated, existing = f"{scale[0]} to {scale[1]}", f"{known.low} to {known.high}"
            raise BadField("scale", f"is {stated}, but criterion {quoted(name)} has the scale {existing}")
        return known

    def check(self) -> list[RowError]:
        return self.corpus.check()

    def assumed(self) -> list[str]:
        return [*self.corpus.assumed(), *self.annotators.spellings.sentences("annotator")]

    def stored(self) -> int:
        """Of the rows taken, those that bring an answer."""
        return len(self.new_scores)

    def news(self):
        return [("criteria", self.new_criteria), ("annotators", self.annotators.new), ("scores", self.new_scores)]

    def prepare(self) -> None:
        """Everything that needs no lock."""
        self.insertions = []
        for _, rows in self.news():
            give_keys(rows)
            self.insertions.append(Insertion(rows))

    def store(self, result: Imported) -> None:
        for insertion in self.insertions:
            insertion.write()
        self.annotators.mark_simulated()
        if self.new_scores:
            if not self.campaign.likert:
                Campaign.objects.filter(pk=self.campaign.pk).update(likert=True)
            draw_items(self.campaign)


def _scale(row: Row) -> tuple[int, int] | None:
    """[lowest, highest] as a list, or "1-5" / "1:5" as CSV writes it."""
    value = row.get("scale")
    if value is None:
        return None
    if isinstance(value, str):
        value = value.replace(":", "-").split("-")
    try:
        numbers = [float(v) for v in value if not isinstance(v, bool)]
        low, high = (int(n) for n in numbers if n == int(n))
    except (TypeError, ValueError, OverflowError):
        raise BadField("scale", "expected [lowest, highest], two whole numbers") from None
    if not -1000 <= low < high <= 1000:
        raise BadField("scale", "expected the lowest number first, and both between -1000 and 1000")
    return low, high
