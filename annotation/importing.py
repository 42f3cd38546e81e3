"""Outputs, scores and judgments from files, all or nothing. Importing the same file twice changes nothing.

Each importer reads every row, checks it against the campaign, gathers the errors, and stores only when there is none,
in one transaction. Existing rows are met through dictionaries loaded once, never by a query per row.
"""

from django.db import transaction

from annotation import rowfiles
from annotation.assignment import draw_items
from annotation.errors import ImportRefused, RowError
from annotation.importing_corpus import BATCH, Corpus, Imported
from annotation.models import (
    Annotator,
    AuditEvent,
    Campaign,
    Context,
    Criterion,
    LikertScore,
    Output,
    PairwiseJudgment,
    Reference,
)
from annotation.outcome import Outcome
from annotation.rowfiles import BadField, Row, read_rows

__all__ = ["import_judgments", "import_outputs", "import_scores", "read_rows"]

SHOWN_ERRORS = 100


class _DryRun(Exception):
    pass


def import_outputs(
    campaign: Campaign, source, name=None, human_systems=(), dry_run=False, user=None, system=None, version=""
) -> Imported:  # fmt: skip
    """Rows {context_id, context, system, output, [references, checkpoint, iteration, ...]}. Raises ImportRefused.

    system: every row is this system's, and need not name it. version: marks the checkpoints of outputs that replace others.
    """
    return _import(campaign, source, name, _OutputsImport(campaign, human_systems, system, version), dry_run, user)


def import_scores(campaign: Campaign, source, name=None, simulated=False, dry_run=False, user=None) -> Imported:
    """Rows {context_id, system, aspect, scale, annotator, score}; each must meet an output that is there."""
    return _import(campaign, source, name, _ScoresImport(campaign, simulated), dry_run, user)


def import_judgments(campaign: Campaign, source, name=None, simulated=False, dry_run=False, user=None) -> Imported:
    """Rows {context_id, context, system_a, output_a, system_b, output_b, annotator, choice}; they bring their texts."""
    return _import(campaign, source, name, _JudgmentsImport(campaign, simulated), dry_run, user)


def _import(campaign, source, name, importer, dry_run, user) -> Imported:
    """Read, check and store inside one transaction that the first error rolls back."""
    errors, total, rows = [], 0, 0
    try:
        with transaction.atomic():
            Campaign.objects.select_for_update().get(pk=campaign.pk)  # two imports at once wait for each other
            importer.begin()
            file = name or getattr(source, "name", None) or str(source).rsplit("/", 1)[-1]
            for row in read_rows(source, name):
                rows += 1
                try:
                    importer.take(row)
                except BadField as error:
                    total += 1
                    if len(errors) < SHOWN_ERRORS:
                        errors.append(RowError(str(file), row.line, error.field, str(error)))
            if errors:
                raise ImportRefused(errors, total)
            result = importer.store()
            result.rows, result.dry_run = rows, dry_run
            if dry_run:
                raise _DryRun
            if result.new:
                detail = {"file": str(file), "kind": importer.kind, **result.as_dict()}
                AuditEvent.objects.create(campaign=campaign, user=user, action="import", detail=detail)
    except _DryRun:
        pass
    return result


class _OutputsImport(Corpus):
    kind = "outputs"

    def __init__(self, campaign: Campaign, human_systems=(), only: str | None = None, version: str = ""):
        super().__init__(campaign, human_systems, version)
        self.only = only

    def take(self, row: Row) -> None:
        context = self.context(row)
        name = row.name("system", default=self.only)
        if self.only not in (None, name):
            raise BadField("system", f"is {name!r}, but this file was sent for {self.only!r}")
        system = self.system(name)
        checkpoint = self.checkpoint(row, system)
        sample = row.whole("sample", default=0)
        text = row.text("output", empty=True)
        self.output(context, system, checkpoint, sample, text, "output", row.mapping("published"))
        known = self.references.setdefault(context.key, [])
        for text in row.texts("references"):
            if text not in known:
                self.new_references.append(Reference(context=context, number=len(known), text=text))
                known.append(text)

    def store(self) -> Imported:
        unknown = self.human - set(self.systems)
        if unknown:
            names = ", ".join(sorted(repr(n) for n in unknown))
            message = f"no row has the system {names} that was called human-written"
            raise ImportRefused([RowError("--human-system", None, "", message)])
        result = self.store_corpus()
        marked = self.campaign.systems.filter(name__in=self.human, is_human=False).update(is_human=True)
        if marked:
            result.add("systems marked human-written", marked)
        if items := draw_items(self.campaign):
            result.add("items", items)
        return result


class _Annotators:
    """The campaign's annotators by name, with the new ones of this file."""

    def __init__(self, campaign: Campaign, simulated: bool):
        self.campaign, self.simulated = campaign, simulated
        self.known = {a.name: a for a in campaign.annotators.all()}
        self.new = []

    def named(self, row: Row) -> Annotator:
        name = row.name("annotator")
        if name not in self.known:
            simulated = self.simulated or row.get("simulated") in (True, "true", "True", "1")
            self.known[name] = Annotator(campaign=self.campaign, name=name, is_simulated=simulated)
            self.new.append(self.known[name])
        return self.known[name]

    def store(self, result: Imported) -> None:
        if self.new:
            Annotator.objects.bulk_create(self.new, batch_size=BATCH)
            result.add("annotators", len(self.new))
        if any(a.is_simulated for a in self.new):
            Campaign.objects.filter(pk=self.campaign.pk).update(is_simulated=True)


class _ScoresImport:
    kind = "scores"

    def __init__(self, campaign: Campaign, simulated: bool):
        self.campaign, self.simulated = campaign, simulated

    def begin(self) -> None:
        self.corpus = Corpus(self.campaign)
        self.corpus.begin()
        self.annotators = _Annotators(self.campaign, self.simulated)
        self.criteria = {c.name: c for c in self.campaign.criteria.all()}
        self.new_criteria, self.new_scores = [], []
        live = LikertScore.objects.filter(criterion__campaign=self.campaign, retracted_at=None)
        found = live.values_list("criterion__name", "output_id", "annotator__name", "value")
        self.scores = {(c, o, a): v for c, o, a, v in found}

    def take(self, row: Row) -> None:
        output = self.output(row)
        criterion = self.criterion(row)
        annotator = self.annotators.named(row)
        value = row.number("score")
        if not criterion.low <= value <= criterion.high:
            scale = f"{criterion.low} to {criterion.high}"
            raise BadField("score", f"is {value:g}, outside the scale {scale} of {criterion.name!r}")
        key = (criterion.name, output.pk, annotator.name)
        if key not in self.scores:
            self.scores[key] = value
            self.new_scores.append(LikertScore(criterion=criterion, output=output, annotator=annotator, value=value))
        elif self.scores[key] != value:
            raise BadField("score", f"is {value:g}, but {annotator.name!r} already gave this output {self.scores[key]:g}")

    def output(self, row: Row) -> Output:
        context, system, sample = row.name("context_id"), row.name("system"), row.whole("sample", default=0)
        iteration = row.whole("iteration")
        checkpoint = row.name("checkpoint", default="" if iteration is None else str(iteration))
        if context not in self.corpus.contexts:
            raise BadField("context_id", f"{context!r} is no context of this campaign; import its outputs first")
        if system not in self.corpus.systems:
            raise BadField("system", f"{system!r} is no system of this campaign; import its outputs first")
        output = self.corpus.outputs.get((context, system, checkpoint, sample))
        if output is None:
            which = f" (checkpoint {checkpoint!r}, sample {sample})" if checkpoint or sample else ""
            raise BadField("system", f"{system!r} has no output for context_id {context!r}{which}")
        return output

    def criterion(self, row: Row) -> Criterion:
        name = row.name("aspect", "criterion")
        if len(name) > 100:
            raise BadField("aspect", "is longer than 100 characters")
        scale = _scale(row)
        known = self.criteria.get(name)
        if known is None:
            if scale is None:
                raise BadField("scale", f"is missing, and {name!r} is a new criterion; expected [lowest, highest]")
            known = Criterion(campaign=self.campaign, name=name, low=scale[0], high=scale[1], position=len(self.criteria))
            self.criteria[name] = known
            self.new_criteria.append(known)
        elif scale is not None and scale != (known.low, known.high):
            given, have = f"{scale[0]} to {scale[1]}", f"{known.low} to {known.high}"
            raise BadField("scale", f"is {given}, but criterion {name!r} has the scale {have}")
        return known

    def store(self) -> Imported:
        result = Imported()
        if self.new_criteria:
            Criterion.objects.bulk_create(self.new_criteria)
            result.add("criteria", len(self.new_criteria))
        self.annotators.store(result)
        if self.new_scores:
            LikertScore.objects.bulk_create(self.new_scores, batch_size=BATCH)
            result.add("scores", len(self.new_scores))
            if not self.campaign.likert:
                Campaign.objects.filter(pk=self.campaign.pk).update(likert=True)
            draw_items(self.campaign)
        return result


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


class _JudgmentsImport(Corpus):
    kind = "judgments"

    def __init__(self, campaign: Campaign, simulated: bool):
        super().__init__(campaign)
        self.simulated = simulated

    def begin(self) -> None:
        super().begin()
        self.annotators = _Annotators(self.campaign, self.simulated)
        live = PairwiseJudgment.objects.filter(annotator__campaign=self.campaign, retracted_at=None)
        names = {output.pk: key for key, output in self.outputs.items()}
        self.judgments = {}
        for j in live.select_related("annotator"):
            key = (names[j.output_a_id], names[j.output_b_id], j.annotator.name)
            self.judgments[key] = Outcome(j.choice)
        self.new_judgments = []

    def take(self, row: Row) -> None:
        context = self.context(row)
        a, b = self.side(row, context, "a"), self.side(row, context, "b")
        if a is b:
            raise BadField("system_b", "names the same output as system_a; a pair needs two")
        annotator = self.annotators.named(row)
        choice = _choice(row)
        key_a, key_b = self.key(a), self.key(b)
        shown_swapped = key_a > key_b
        if shown_swapped:  # one stored order for a pair, whichever side it was shown on
            a, b, key_a, key_b, choice = b, a, key_b, key_a, choice.swap()
        key = (key_a, key_b, annotator.name)
        if key not in self.judgments:
            self.judgments[key] = choice
            self.new_judgments.append(
                PairwiseJudgment(annotator=annotator, output_a=a, output_b=b, choice=choice.value, shown_swapped=shown_swapped)
            )
        elif self.judgments[key] != choice:
            raise BadField("choice", f"is not what {annotator.name!r} already said about this pair")

    def side(self, row: Row, context: Context, side: str) -> Output:
        system = self.system(row.name(f"system_{side}"))
        text = row.text(f"output_{side}", empty=True)
        sample = row.whole(f"sample_{side}", default=0)
        checkpoint = row.name(f"checkpoint_{side}", default="")
        known = self.checkpoints.get((system.name, checkpoint))
        if checkpoint and known is None:
            raise BadField(f"checkpoint_{side}", f"{checkpoint!r} is no checkpoint of {system.name!r} in this campaign")
        return self.output(context, system, known, sample, text, f"output_{side}")

    @staticmethod
    def key(output: Output) -> tuple:
        """The order in which a pair is stored: by names, so that it does not depend on what came first."""
        checkpoint = output.checkpoint.name if output.checkpoint else ""
        return output.context.key, output.system.name, checkpoint, output.sample

    def store(self) -> Imported:
        result = self.store_corpus()
        self.annotators.store(result)
        if self.new_judgments:
            for judgment in self.new_judgments:  # ids were given by store_corpus
                judgment.output_a_id, judgment.output_b_id = judgment.output_a.pk, judgment.output_b.pk
            PairwiseJudgment.objects.bulk_create(self.new_judgments, batch_size=BATCH)
            result.add("judgments", len(self.new_judgments))
        if self.new_judgments and not self.campaign.pairwise:
            Campaign.objects.filter(pk=self.campaign.pk).update(pairwise=True)
        if items := draw_items(self.campaign):
            result.add("items", items)
        return result


def _choice(row: Row) -> Outcome:
    value = row.text("choice").strip()
    for outcome in Outcome:
        if value.lower() == outcome.value.lower():
            return outcome
    raise BadField("choice", f"expected A, tie or B, found {rowfiles._shown(value)}")
