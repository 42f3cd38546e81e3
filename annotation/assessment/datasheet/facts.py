"""What the campaign itself knows of the datasheet's questions. Where it knows nothing there is no fact: nothing is guessed."""

from collections.abc import Mapping
from dataclasses import dataclass

from django.db.models import Count, Exists, OuterRef

from annotation.assessment.rule_text import rule_in_words
from annotation.models import Assignment, Campaign, Criterion, Output, Purpose, QualityDecision, Snapshot
from annotation.questions import registry, store
from annotation.questions.conditions import in_words
from annotation.questions.pair import Pair, pair_of
from annotation.questions.ranked.kind import ranked_of


@dataclass(frozen=True)
class Said:
    """An answer. chosen: places of options, from 1. is_partial: a fact that leaves something for the researchers to say."""

    chosen: tuple[int, ...] = ()
    text: str = ""
    is_partial: bool = False


Facts = dict[str, Said]  # by the question's number
LATER = Said(text="It follows from the first snapshot.")
NOT_MEASURED = "InterAA not assessed"  # as the datasheet wants it said, and the next
NOT_REPEATED = "IntraAA not assessed"


def of_campaign(campaign: Campaign, snapshot: Snapshot | None, decisions: Mapping) -> Facts:
    """Of all questions but those on a criterion. decisions: of the snapshot, by the criterion's id."""
    return {
        **_systems(campaign),
        **_sample(campaign, snapshot, decisions),
        **_evaluators(campaign),
        **_checks(campaign, snapshot),
        **_design(campaign),
        **_ethics(campaign),
    }


def _systems(campaign: Campaign) -> Facts:
    names = [f"{s.name} (human-written)" if s.is_human else s.name for s in campaign.systems.all()]
    turns = [len(turns) for turns in campaign.contexts.values_list("turns", flat=True)[:1000]]
    is_dialogue = bool(turns) and sum(n > 1 for n in turns) > len(turns) / 2
    facts = {"2.3": Said(text=f"The systems: {', '.join(names)}.", is_partial=True)} if names else {}
    return facts | ({"2.1": Said((8,), "Most contexts have several turns.")} if is_dialogue else {})


def _sample(campaign: Campaign, snapshot: Snapshot | None, decisions: Mapping) -> Facts:
    this, (of_outputs, of_pairs) = OuterRef("pk"), store.counted()
    is_scored = Exists(of_outputs.filter(output=this))
    is_a, is_b = (Exists(of_pairs.filter(**{side: this})) for side in ("output_a", "output_b"))
    judged = Output.objects.filter(is_scored | is_a | is_b, context__campaign=campaign)
    counts = judged.order_by().values("system__name").annotate(n=Count("pk")).order_by("system__name")
    per_system = "; ".join(f"{row['system__name']}: {row['n']}" for row in counts)
    power = " ".join(
        f"{d.what}: {one['sentence']}" for d in decisions.values() for one in d.report.get("outlook", []) if one["units"] != 0
    )
    return {
        "3.1.1": Said(text=per_system or "None yet."),
        "3.1.3.2": Said(text=power or "The interval of every alpha is above 0.8.") if snapshot else LATER,
    }


def _evaluators(campaign: Campaign) -> Facts:
    people = store.who_answered(campaign).filter(is_simulated=False)
    simulated = store.who_answered(campaign).filter(is_simulated=True).count()
    count = f"{people.count()}" + (f", and {simulated} simulated ones, which are programs" if simulated else "")
    withdrawn = people.filter(withdrawn_at__isnull=False).count()
    idle = campaign.annotators.filter(is_simulated=False).count() - people.count()
    beside = [f"{withdrawn} withdrew later"] if withdrawn else []
    beside += [f"{idle} more joined and judged nothing"] if idle else []
    facts = {"3.2.1": Said(text=count + (f" ({'; '.join(beside)})" if beside else ""))}
    ways, training = _ways(people), _training(campaign)
    return facts | ({"3.2.3": ways} if ways else {}) | ({"3.2.4": Said(text=training)} if training else {})


def _ways(people) -> Said | None:
    """By which links people came, and how many are names from files, of whom the campaign does not know how they were found."""
    joined = people.filter(user__isnull=False).order_by("invitation__label")
    ways = [
        f"{row['n']} by the link {row['invitation__label']!r}" if row["invitation__label"] else f"{row['n']} by invitation"
        for row in joined.values("invitation__label").annotate(n=Count("pk"))
    ]
    if files := people.filter(user=None).count():
        ways.append(f"{files} from imported files")
    return Said(text=f"{'; '.join(ways)}.", is_partial=bool(files)) if ways else None


def _training(campaign: Campaign) -> str:
    training = campaign.items.filter(purpose=Purpose.TRAINING).count()
    questions = campaign.items.filter(purpose=Purpose.QUALIFICATION).count()
    sentences = [
        "Written guidelines before the start and at hand throughout." if campaign.guidelines else "",
        f"{training} training items with the known answer shown." if training else "",
        f"{questions} qualification items, pass mark {campaign.pass_mark}%." if questions and campaign.pass_mark else "",
    ]
    return " ".join(filter(None, sentences))


def _checks(campaign: Campaign, snapshot: Snapshot | None) -> Facts:
    if snapshot is None:
        return {"3.3.3.1": LATER, "3.3.3.2": LATER}
    checks, methods = [f"Outlying scores are left out: {rule_in_words(snapshot.rule)}."], [2]
    checks += [f"{campaign.gold_percent}% of items have a known answer."] if campaign.gold_percent else []
    checks += [f"{campaign.repeat_percent}% of pairs come back with their sides swapped."] if campaign.repeat_percent else []
    if settled := snapshot.rule.get("adjudicated"):
        checks.append(f"{settled} disagreements were settled by a researcher.")
        methods.append(3)
    if snapshot.rule.get("mad") is not None:
        methods.append(5)
    return {
        "3.3.3.1": Said(tuple(methods)),
        "3.3.3.2": Said(text="Automatic checks during and after the evaluation. " + " ".join(checks)),
    }


def _design(campaign: Campaign) -> Facts:
    if not campaign.annotators.filter(user__isnull=False).exists():
        return {"3.3.2": Said(text="Imported from files.", is_partial=True)}
    comment = ", and write a comment on each." if campaign.asks_reason else "."
    return {
        "3.3.2": Said(text="Online, in Comparena."),
        "3.3.4.2": Said(
            text="The context, one output (or several, in an order drawn at random) and the scales below, not the systems' "
            f"names. Texts are shown {campaign.get_text_format_display()}; of a long context the end is seen at first."
        ),
        "3.3.5": Said((5,), "Neither timed nor bound to one sitting: every answer is kept as it is given."),
        "3.3.6": Said((1, 4), f"They may ask about an item, or skip or flag it with a reason{comment}"),
        "3.3.7": Said((1,)),
        "3.3.8": Said(text="Place, device and time are of each evaluator's own choosing."),
    }


def _ethics(campaign: Campaign) -> Facts:
    versions = campaign.consent_texts.count()
    if not versions:
        return {}
    agreed = campaign.annotators.filter(consented_at__isnull=False).count()
    kept = f"Answers are kept under pseudonyms; {agreed} evaluators agreed to the consent text (version {versions})."
    return {"5.2": Said(text=kept, is_partial=True)}


def of_criterion(
    campaign: Campaign, criterion: Criterion | None, snapshot: Snapshot | None, decision: QualityDecision | None
) -> Facts:
    """criterion: None for pairs on the whole."""
    of_kind = _scores(criterion) if criterion and campaign.likert else _pairs(campaign, criterion)
    resampled = "groups of contexts" if campaign.has_groups else "contexts"
    facts = of_kind | {
        "4.2.1": Said((2,)),
        "4.3.10": Said(
            text=f"95% intervals from how answers vary over evaluators and over {resampled}; differences are corrected for "
            "all pairs of systems at once (Tukey-Kramer)."
        ),
    }
    if snapshot is None:
        facts |= {"4.3.11.1": LATER, "4.3.11.2": LATER}
    else:
        method, value = _agreement(snapshot, decision)
        facts |= {"4.3.11.1": Said(text=method), "4.3.11.2": Said(text=value)}
    if _was_never_repeated(campaign):
        facts |= {number: Said(text=NOT_REPEATED) for number in ("4.3.12.1", "4.3.12.2")}
    return facts


def _scores(criterion: Criterion) -> Facts:
    question = registry.about_output(criterion)
    size = str(len(criterion.points)) if question.kind.has_upper_end else "N/A: errors are counted by their weights"
    place, words = question.kind.presented(question)
    facts = {
        "4.2.2": Said((1,)),
        "4.3.1.1": Said(text=criterion.name),
        "4.3.2": Said(text=criterion.description or "no definition given"),
        "4.3.3": Said(text=size),
        "4.3.4": Said(text=_points(criterion)),
        "4.3.5": Said((place,), words),
        "4.3.6": Said(text="N/A"),
        "4.3.8": Said((question.kind.elicited,)),
        "4.3.9": Said(
            text="A mixed model of the assessed answers: systems fixed; contexts, outputs and evaluators, with their leanings "
            "to systems, random."
        ),
    }
    return facts | ({"4.3.7": Said(text=criterion.description)} if criterion.description else {})


def _pairs(campaign: Campaign, criterion: Criterion | None) -> Facts:
    n = campaign.outputs_at_once
    kind: Pair = ranked_of(n, campaign.best_worst) if n > 2 else pair_of(campaign.pair_points, campaign.pair_both_bad)
    task = "N/A"
    if n > 2:
        task = f"Choose the best and the worst of up to {n} outputs." if campaign.best_worst else f"Rank up to {n} outputs."
    return {
        "4.2.2": Said((2,)),
        "4.3.1.1": Said(text=criterion.name if criterion else "no name given (which output is better)"),
        "4.3.2": Said(text=criterion and criterion.description or "no definition given"),
        "4.3.3": Said(text="N/A" if n > 2 else str(len(kind.answers_in_words))),
        "4.3.4": Said(text="N/A" if n > 2 else ", ".join(kind.answers_in_words)),
        "4.3.5": Said((4,)) if n > 2 else Said((1,)),
        "4.3.6": Said(text=task),
        "4.3.7": Said(text=criterion and criterion.description or (task if n > 2 else "Which is better?")),
        "4.3.8": Said((kind.elicited,)),
        "4.3.9": Said(
            text=f"By the model of {'Plackett and Luce' if n > 2 else 'Bradley and Terry'}, of all assessed answers."
        ),
    }


def _points(criterion: Criterion) -> str:
    kind = registry.kind_named(criterion.kind)
    ends = [f"{criterion.low}" + (f" ({criterion.low_label})" if criterion.low_label else "")]
    if kind.has_upper_end:
        ends.append(f"{criterion.high}" + (f" ({criterion.high_label})" if criterion.high_label else ""))
    beside = [f"{criterion.low} is the best"] if criterion.best == Criterion.Best.LOW else []
    beside += (["or: cannot say"] if criterion.cannot_say else []) + (["may be left empty"] if criterion.optional else [])
    beside += [in_words(criterion.asked_if)] if criterion.asked_if else []
    return "; ".join([" to ".join(ends) if kind.has_upper_end else f"{ends[0]} and above", *beside])


def _agreement(snapshot: Snapshot, decision: QualityDecision | None) -> tuple[str, str]:
    """(how it was measured, how large it is)"""
    if decision is None:
        return NOT_MEASURED, NOT_MEASURED
    report = decision.report
    value = report.get("alpha_after", report.get("alpha"))
    if value is None:
        return NOT_MEASURED, report["reason"]
    low, high = (report.get(f"alpha_after_{end}", report.get(f"alpha_{end}")) for end in ("low", "high"))
    interval = "" if low is None else f", 95% interval {low:.3f} to {high:.3f}"
    question = (
        registry.about_pair(snapshot.campaign)
        if decision.on_pairs or not decision.criterion
        else registry.about_output(decision.criterion)
    )
    level = question.kind.level(snapshot.rule.get("level", "nominal"))
    return f"Krippendorff's alpha, {level}.", f"Krippendorff's alpha {value:.3f}{interval}. {report['reason']}"


def _was_never_repeated(campaign: Campaign) -> bool:
    """All answers come from the pages, and nobody was shown an item again; of files nobody knows."""
    own = Assignment.objects.filter(item__campaign=campaign)
    is_online = not campaign.annotators.filter(user=None).exists()
    return is_online and own.exists() and not own.filter(purpose=Purpose.REPEAT).exists()
