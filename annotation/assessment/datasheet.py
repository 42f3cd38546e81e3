"""The Human Evaluation Datasheet, answered from the campaign as far as it knows.

Question numbers and wording (shortened) after Shimorina & Belz (2022), "The Human Evaluation Datasheet: A Template for
Recording Details of Human Evaluation Experiments in NLP", HumEval 2022. Where the campaign knows nothing the answer is
None and the sheet says that somebody has to write it: nothing is guessed.
"""

from dataclasses import dataclass

from django.db.models import Count, Exists, OuterRef

from annotation.assessment.rule_text import rule_in_words
from annotation.models import Campaign, Criterion, LikertScore, Output, PairwiseJudgment, Purpose, QualityDecision, Snapshot
from annotation.questions.conditions import in_words


@dataclass(frozen=True)
class SheetAnswer:
    number: str
    question: str
    answer: str | None


def datasheet(campaign: Campaign, snapshot: Snapshot) -> list[SheetAnswer]:
    """Every question in the sheet's order; section 4 once for each criterion, 4a, 4b, ... where there are several."""
    decisions = {d.criterion_id: d for d in snapshot.decisions.select_related("criterion").order_by("-on_pairs")}
    answers = [*_paper(), *_systems(campaign), *_sample(campaign, decisions), *_evaluators(campaign)]
    answers += _design(campaign, snapshot)
    questions: list[Criterion | None] = [*campaign.criteria.all(), *([None] if None in decisions else [])]
    sampled = "groups of contexts" if campaign.has_groups else "contexts"
    for n, criterion in enumerate(questions):
        letter = "" if len(questions) == 1 else "abcdefghijklmnopqrstuvwxyz"[n % 26]
        answers += _criterion(criterion, decisions.get(criterion.pk if criterion else None), letter, sampled)
    return answers + _ethics(campaign)


def _paper() -> list[SheetAnswer]:
    return [
        SheetAnswer("1.1", "Link to the paper that reports the experiment", None),
        SheetAnswer("1.2", "Link to resources used in the experiment", None),
        SheetAnswer("1.3", "Name, affiliation and email address of whoever completes this sheet", None),
    ]


def _systems(campaign: Campaign) -> list[SheetAnswer]:
    names = [f"{s.name} (human-written)" if s.is_human else s.name for s in campaign.systems.all()]
    turns = [len(turns) for turns in campaign.contexts.values_list("turns", flat=True)[:1000]]
    dialogue = bool(turns) and sum(n > 1 for n in turns) > len(turns) / 2
    known = "text: dialogue (most contexts have several turns)" if dialogue else None
    return [
        SheetAnswer("2.1", "Type of input of the evaluated systems", known),
        SheetAnswer("2.2", "Type of output of the evaluated systems", None),
        SheetAnswer("2.3", f"Task that the evaluated systems perform (here: {', '.join(names)})", None),
        SheetAnswer("2.4", "Input language(s)", None),
        SheetAnswer("2.5", "Output language(s)", None),
    ]


def _sample(campaign: Campaign, decisions: dict) -> list[SheetAnswer]:
    this = OuterRef("pk")
    is_scored = Exists(LikertScore.objects.filter(output=this))
    is_a, is_b = (Exists(PairwiseJudgment.objects.filter(**{side: this})) for side in ("output_a", "output_b"))
    judged = Output.objects.filter(is_scored | is_a | is_b, context__campaign=campaign)
    counts = judged.order_by().values("system__name").annotate(n=Count("pk")).order_by("system__name")
    per_system = "; ".join(f"{row['system__name']}: {row['n']}" for row in counts)
    power = [
        f"{d.what}: {one['sentence']}" for d in decisions.values() for one in d.report.get("outlook", []) if one["units"] != 0
    ]
    return [
        SheetAnswer("3.1.1", "How many outputs are evaluated per system", per_system or None),
        SheetAnswer("3.1.2", "How outputs were selected", None),
        SheetAnswer("3.1.3", "Statistical power of the sample", " ".join(power) or "The interval of every alpha is above 0.8."),
    ]


def _evaluators(campaign: Campaign) -> list[SheetAnswer]:
    people = campaign.annotators.filter(is_simulated=False)
    simulated = campaign.annotators.filter(is_simulated=True).count()
    count = f"{people.count()}" + (f", and {simulated} simulated ones, which are programs" if simulated else "")
    withdrawn = people.filter(withdrawn_at__isnull=False).count()
    return [
        SheetAnswer("3.2.1", "How many evaluators", count + (f" ({withdrawn} withdrew later)" if withdrawn else "")),
        SheetAnswer("3.2.2", "What kind of evaluators", None),
        SheetAnswer("3.2.3", "How evaluators were recruited", _ways(people)),
        SheetAnswer("3.2.4", "Training or practice before the evaluation", _training(campaign)),
        SheetAnswer("3.2.5", "Other characteristics of the evaluators", None),
    ]


def _ways(people) -> str | None:
    """By which links people came, and how many are names from files."""
    joined = people.filter(user__isnull=False).order_by("invitation__label")
    ways = [
        f"{row['n']} by the link {row['invitation__label']!r}" if row["invitation__label"] else f"{row['n']} by invitation"
        for row in joined.values("invitation__label").annotate(n=Count("pk"))
    ]
    if files := people.filter(user=None).count():
        ways.append(f"{files} from imported files")
    return "; ".join(ways) or None


def _training(campaign: Campaign) -> str | None:
    training = campaign.items.filter(purpose=Purpose.TRAINING).count()
    questions = campaign.items.filter(purpose=Purpose.QUALIFICATION).count()
    sentences = [
        "Written guidelines before the start and at hand throughout." if campaign.guidelines else "",
        f"{training} training items with the known answer shown." if training else "",
        f"{questions} qualification items, pass mark {campaign.pass_mark}%." if questions and campaign.pass_mark else "",
    ]
    return " ".join(filter(None, sentences)) or None


def _design(campaign: Campaign, snapshot: Snapshot) -> list[SheetAnswer]:
    checks = [f"Outlying scores are left out: {rule_in_words(snapshot.rule)}."]
    checks += [f"{campaign.gold_percent}% of items have a known answer."] if campaign.gold_percent else []
    checks += [f"{campaign.repeat_percent}% of pairs come back with their sides swapped."] if campaign.repeat_percent else []
    if settled := snapshot.rule.get("adjudicated"):
        checks.append(f"{settled} disagreements were settled by a researcher.")
    online = campaign.annotators.filter(user__isnull=False).exists()
    here = {
        "3.3.2": "Online, in Comparena.",
        "3.3.4": "The context, one output (or several, in an order drawn at random) and the scales below, not the systems' "
        f"names. Texts are shown {campaign.get_text_format_display()}; of a long context the end is seen at first.",
        "3.3.5": "Neither timed nor bound to one sitting: every answer is kept as it is given.",
        "3.3.6": "They may skip or flag an item with a reason"
        + (", and write a comment on each." if campaign.asks_reason else "."),
        "3.3.7": "At a place of the evaluators' own choosing.",
        "3.3.8": "N/A",
    }
    known = here if online else {"3.3.2": "Imported from files."}
    known["3.3.3"] = "Automatic checks during and after the evaluation. " + " ".join(checks)
    return [SheetAnswer(number, question, known.get(number)) for number, question in DESIGN.items()]


DESIGN = {
    "3.3.1": "Was the design preregistered",
    "3.3.2": "How responses are collected",
    "3.3.3": "Quality assurance",
    "3.3.4": "What evaluators see",
    "3.3.5": "How free evaluators are in when and how quickly to answer",
    "3.3.6": "Whether evaluators can ask or comment",
    "3.3.7": "Experimental conditions",
    "3.3.8": "Range of conditions, unless of their own choosing",
}


def _criterion(criterion: Criterion | None, decision: QualityDecision | None, letter: str, sampled: str) -> list[SheetAnswer]:
    """sampled: what intervals resample."""

    def answer(number: str, question: str, known: str | None) -> SheetAnswer:
        return SheetAnswer(f"4{letter}{number[1:]}", question, known)

    question: str | None
    if criterion is None:
        name, definition, size, points = "N/A (which output is better)", "N/A", "3", "A is better, tie, B is better"
        question = "Which output is better?"
    else:
        name, definition = criterion.name, criterion.description or "N/A"
        size, points, question = str(len(criterion.points)), _points(criterion), criterion.description or None
    return [
        answer("4.1.1", "Type of quality assessed", None),
        answer("4.1.2", "Aspect of outputs assessed", None),
        answer("4.1.3", "Assessed in its own right or against a frame of reference", None),
        answer("4.2.1", "Objective or subjective", "Subjective"),
        answer("4.2.2", "Absolute or relative", "Relative" if criterion is None else "Absolute"),
        answer("4.2.3", "Intrinsic or extrinsic", None),
        answer("4.3.1", "Name of the criterion, as evaluators see it", name),
        answer("4.3.2", "Definition given to evaluators", definition),
        answer("4.3.3", "Size of the scale", size),
        answer("4.3.4", "Values of the scale", points),
        answer("4.3.5", "How the scale is presented", "Multiple-choice options"),
        answer("4.3.6", "Task, if there is no rating instrument", "N/A"),
        answer("4.3.7", "Verbatim question or instruction", question),
        answer(
            "4.3.8",
            "Form of response elicitation",
            "relative quality estimation" if criterion is None else "direct quality estimation",
        ),
        answer(
            "4.3.9",
            "How responses are aggregated",
            "Answers that are kept are compared output by output within an annotator and rated with Glicko-2.",
        ),
        answer("4.3.10", "Effect size and significance", f"95% intervals by bootstrap over {sampled}."),
        answer("4.3.11", "Agreement between and within evaluators", _agreement(decision)),
    ]


def _points(criterion: Criterion) -> str:
    ends = [f"{criterion.low}" + (f" ({criterion.low_label})" if criterion.low_label else "")]
    ends.append(f"{criterion.high}" + (f" ({criterion.high_label})" if criterion.high_label else ""))
    beside = [f"{criterion.low} is the best"] if criterion.best == Criterion.Best.LOW else []
    beside += (["or: cannot say"] if criterion.cannot_say else []) + (["may be left empty"] if criterion.optional else [])
    beside += [in_words(criterion.asked_if)] if criterion.asked_if else []
    return "; ".join([" to ".join(ends), *beside])


def _agreement(decision: QualityDecision | None) -> str | None:
    if decision is None:
        return None
    report = decision.report
    value = report.get("alpha_after", report.get("alpha"))
    if value is None:
        return report["reason"]
    low, high = (report.get(f"alpha_after_{end}", report.get(f"alpha_{end}")) for end in ("low", "high"))
    interval = "" if low is None else f", 95% interval {low:.3f} to {high:.3f}"
    return f"Krippendorff's alpha {value:.3f}{interval}. {report['reason']}"


def _ethics(campaign: Campaign) -> list[SheetAnswer]:
    versions = campaign.consent_texts.count()
    agreed = campaign.annotators.filter(consented_at__isnull=False).count()
    kept = f"Answers are kept under pseudonyms; {agreed} evaluators agreed to the consent text (version {versions})."
    return [
        SheetAnswer("5.1", "Approval by a research ethics committee", None),
        SheetAnswer(
            "5.2", "Personal data in outputs or responses", f"{kept} The outputs: to be written." if versions else None
        ),
        SheetAnswer("5.3", "Special category data in outputs or responses", None),
        SheetAnswer("5.4", "Impact assessments", None),
    ]
