"""People's answers to all kinds of questions, in two tables: about one output, and about two. Everybody else asks here."""

from collections import Counter, defaultdict
from collections.abc import Iterable, Sequence
from typing import Any

from django.db.models import Count, Exists, Max, OuterRef, Q
from django.utils import timezone

from annotation.models import Annotator, Campaign, LikertScore, PairwiseJudgment, Purpose, Submission
from annotation.models.judgment import AnswerQuerySet
from annotation.questions.columns import RANKING
from annotation.questions.kind import Question
from annotation.statements import insert

ABOUT_OUTPUT, ABOUT_PAIR = LikertScore, PairwiseJudgment
Table = type[LikertScore] | type[PairwiseJudgment]
TABLES: dict[str, Table] = {"scores": ABOUT_OUTPUT, "judgments": ABOUT_PAIR}  # as counts name them
REASON_LENGTH: int = PairwiseJudgment._meta.get_field("reason").max_length or 0
Unit = tuple[int, int | None]  # ids of an output and of the other one of a pair


def about_outputs(campaign: Campaign) -> AnswerQuerySet:
    return ABOUT_OUTPUT.objects.filter(criterion__campaign=campaign)


def about_pairs(campaign: Campaign) -> AnswerQuerySet:
    return ABOUT_PAIR.objects.filter(annotator__campaign=campaign)


def both(campaign: Campaign) -> list[AnswerQuerySet]:
    """All answers of a campaign, whatever became of them."""
    return [about_outputs(campaign), about_pairs(campaign)]


def to(campaign: Campaign, question: Question) -> AnswerQuerySet:
    """All answers to one question."""
    if question.on_pairs:
        return about_pairs(campaign).filter(criterion=question.criterion)
    return ABOUT_OUTPUT.objects.filter(criterion=question.criterion)


def counted() -> tuple[AnswerQuerySet, AnswerQuerySet]:
    """The answers that count, of all campaigns: about outputs, about pairs."""
    return ABOUT_OUTPUT.objects.counted(), ABOUT_PAIR.objects.counted()


# -- one person's answers


def save(rows: list, submission: Submission) -> None:
    """New rows, one at least, with their new submission."""
    by_table: dict[Any, list] = defaultdict(list)
    for row in rows:
        row.submission = submission
        by_table[type(row)].append(row)
    for of_table in by_table.values():
        insert(of_table, submission if submission._state.adding else None)


def give_way(rows: list) -> None:
    """Earlier answers of the same person about pairs that they judge again, with further outputs or without: the last one
    counts, the others stay and count no more. rows: of one answer, unsaved."""
    pairs = [row for row in rows if isinstance(row, ABOUT_PAIR)]
    if not pairs:
        return
    of_person = ABOUT_PAIR.objects.filter(annotator=pairs[0].annotator, purpose=pairs[0].purpose, retracted_at=None)
    same = [Q(output_a=row.output_a_id, output_b=row.output_b_id, criterion=row.criterion) for row in pairs]
    of_person.filter(Q(*same, _connector=Q.OR)).update(retracted_at=timezone.now())


def retract(submission: Submission) -> None:
    """The rows stay, and count no more. Earlier answers that gave way to them count again."""
    now = timezone.now()
    for table in TABLES.values():
        table.objects.filter(submission=submission).update(retracted_at=now)
    Submission.objects.filter(pk=submission.pk).update(retracted_at=now)
    if submission.annotator.campaign.outputs_at_once > 2:
        _let_count_again(submission)


def _let_count_again(submission: Submission) -> None:
    """The newest answer about each of its pairs that gave way, and was not itself taken back."""
    for row in ABOUT_PAIR.objects.filter(submission=submission):
        about = {
            "output_a": row.output_a_id,
            "output_b": row.output_b_id,
            "criterion": row.criterion_id,
            "purpose": row.purpose,
        }
        others = ABOUT_PAIR.objects.filter(annotator=row.annotator_id, **about).exclude(pk=row.pk)
        if others.filter(retracted_at=None).exists():
            continue
        earlier = others.filter(submission__retracted_at=None).order_by("-pk").first()
        if earlier:
            ABOUT_PAIR.objects.filter(pk=earlier.pk).update(retracted_at=None)


def of_submission(submission: Submission) -> list:
    """Its rows, in the order in which the questions are asked."""
    table: Table = ABOUT_PAIR if submission.assignment.item.is_pair else ABOUT_OUTPUT
    rows = table.objects.filter(submission=submission).select_related("criterion")
    return list(rows.order_by("criterion__position", "pk"))


def checks_of(people: Campaign | Annotator, purpose: str) -> dict[Any, list]:
    """{submission id: its live rows, with criterion, submission, assignment and item} of items of one purpose."""
    of_campaign = {"annotator__campaign": people, "annotator__withdrawn_at": None}
    whose = {"annotator": people} if isinstance(people, Annotator) else of_campaign
    rows: dict[Any, list] = defaultdict(list)
    for table in TABLES.values():
        live = table.objects.filter(**whose, retracted_at=None, purpose=purpose, submission__isnull=False)
        for row in live.select_related("criterion", "submission__assignment__item"):
            rows[row.submission_id].append(row)
    return rows


def live_counts(annotator: Annotator) -> dict[str, int]:
    return {name: table.objects.filter(annotator=annotator, retracted_at=None).count() for name, table in TABLES.items()}


def everything_of(annotator: Annotator) -> dict[str, list[dict]]:
    """Each answer that a person gave, as it is handed out to them."""
    common = ("created_at", "retracted_at", "purpose", "cannot_say", "detail", "criterion__name")
    fields = {
        "scores": ("value", *common, "output__text", "output__system__name"),
        "judgments": ("choice", "reason", *common, "output_a__text", "output_b__text"),
    }
    return {name: list(table.objects.filter(annotator=annotator).values(*fields[name])) for name, table in TABLES.items()}


def take_words_of(annotator: Annotator) -> None:
    ABOUT_PAIR.objects.filter(annotator=annotator).update(reason="")


# -- a campaign's answers


def counts(campaign: Campaign) -> dict[str, int]:
    """Those that count."""
    return {name: rows.counted().count() for name, rows in zip(TABLES, both(campaign), strict=True)}


def is_larger(campaign: Campaign, answers: int) -> bool:
    """Does one of the tables hold more of its answers? Looks at no more of them than that."""
    return any(rows.order_by()[answers : answers + 1].exists() for rows in both(campaign))


def counts_by_person(campaign: Campaign) -> dict[int, list[int]]:
    """{annotator id: [scores, judgments]} of those that count; a ranking of several outputs is one judgment here."""
    by_person: dict[int, list[int]] = defaultdict(lambda: [0] * len(TABLES))
    ranked, is_ranked = 0, Count("pk", filter=Q(detail__has_key=RANKING))
    for number, rows in enumerate(both(campaign)):
        for person, n, of_rankings in rows.counted().order_by().values_list("annotator").annotate(n=Count("pk"), r=is_ranked):
            by_person[person][number] = n
            ranked += of_rankings
    for (person, *_), pairs in Counter(map(tuple, ranked_pairs(campaign))).items() if ranked else ():
        by_person[person][1] -= pairs - 1
    return dict(by_person)


def ranked_pairs(campaign: Campaign) -> AnswerQuerySet:
    """For each judgment that counts and belongs to a ranking: (annotator, criterion, context, name of the ranking)."""
    rows = about_pairs(campaign).counted().filter(detail__has_key=RANKING).order_by()
    return rows.values_list("annotator", "criterion", "output_a__context", f"detail__{RANKING}")


def rankings(campaign: Campaign) -> int:
    """How many rankings of several outputs its judgments are from."""
    return ranked_pairs(campaign).distinct().count()


def stored(campaign: Campaign) -> dict[str, int]:
    """All of them, undone and imported ones included."""
    return {name: rows.count() for name, rows in zip(TABLES, both(campaign), strict=True)}


def is_stored(campaign: Campaign) -> dict[str, bool]:
    """Is there any, undone and imported ones included?"""
    return {name: rows.order_by().exists() for name, rows in zip(TABLES, both(campaign), strict=True)}


def is_answered(campaign: Campaign) -> bool:
    return any(rows.given().exists() for rows in both(campaign))


def state(campaign: Campaign) -> list[dict]:
    """Changes whenever an answer comes, or goes."""
    return [rows.aggregate(Count("pk"), Max("pk"), Max("retracted_at")) for rows in both(campaign)]


def used_criteria(campaign: Campaign) -> set[int]:
    """Ids of the criteria with answers."""
    used = [Exists(table.objects.filter(criterion=OuterRef("pk"))) for table in TABLES.values()]
    return set(campaign.criteria.filter(Q(*used, _connector=Q.OR)).values_list("pk", flat=True))


def who_answered(campaign: Campaign):
    """The annotators who judged something and did not take all of it back; those who withdrew later are among them."""
    given = {"annotator": OuterRef("pk"), "purpose": Purpose.EVALUATION, "retracted_at": None}
    answered = [Exists(table.objects.filter(**given)) for table in TABLES.values()]
    return campaign.annotators.filter(Q(*answered, _connector=Q.OR))


def people_by_unit(campaign: Campaign) -> dict[Unit, tuple[int, int]]:
    """How many people judged an output or a pair, and how many of them with its sides swapped; imported answers count."""
    people, swapped = Count("annotator", distinct=True), Count("annotator", distinct=True, filter=Q(shown_swapped=True))
    of_outputs = about_outputs(campaign).given().order_by().values_list("output").annotate(people=people)
    of_pairs = about_pairs(campaign).given().order_by().values_list("output_a", "output_b")
    judged: dict[Unit, tuple[int, int]] = {(output, None): (n, 0) for output, n in of_outputs}
    return judged | {(a, b): (n, m) for a, b, n, m in of_pairs.annotate(people=people, swapped=swapped)}


def people_by_set(campaign: Campaign) -> dict[frozenset[int], set[int]]:
    """{outputs: ids of the people who ranked just these together}; imported answers count."""
    ranked = about_pairs(campaign).given().filter(detail__has_key=RANKING).order_by()
    rows = ranked.values_list("annotator", "output_a__context", f"detail__{RANKING}", "output_a", "output_b")
    outputs: dict[tuple, set[int]] = defaultdict(set)
    for *answer, a, b in rows.distinct():
        outputs[tuple(answer)] |= {a, b}
    people: dict[frozenset[int], set[int]] = defaultdict(set)
    for (annotator, *_), together in outputs.items():
        people[frozenset(together)].add(annotator)
    return people


def beside_choices(campaign: Campaign, names: Sequence[str]) -> dict[tuple[int, int, int, int | None], dict[str, Any]]:
    """{(annotator, output, other output, criterion), ids: what of these names is kept beside a choice that counts}."""
    rows = about_pairs(campaign).counted().filter(detail__has_any_keys=list(names))
    told = rows.values_list("annotator_id", "output_a_id", "output_b_id", "criterion_id", "detail")
    kept = {tuple(key): {name: detail[name] for name in names if detail.get(name)} for *key, detail in told}
    return {key: beside for key, beside in kept.items() if beside}


def answered_units(campaign: Campaign) -> set[frozenset]:
    """What somebody ever answered about: an output alone, or both of a pair."""
    outputs = about_outputs(campaign).order_by().values_list("output", flat=True).distinct()
    pairs = about_pairs(campaign).order_by().values_list("output_a", "output_b").distinct()
    return {frozenset((output, None)) for output in outputs} | set(map(frozenset, pairs))


def repeats(campaign: Campaign) -> list[tuple[int, bool]]:
    """(annotator id, same answer as before) of everything that was shown twice and answered both times."""
    live = about_pairs(campaign).filter(annotator__withdrawn_at=None, retracted_at=None, cannot_say=False)
    fields = ("annotator_id", "output_a_id", "output_b_id", "criterion_id", "choice")
    first = {tuple(row[:4]): row[4] for row in live.filter(purpose=Purpose.EVALUATION).values_list(*fields)}
    again = live.filter(purpose=Purpose.REPEAT).values_list(*fields)
    return [(row[0], first[row[:4]] == row[4]) for row in again if row[:4] in first]


def totals() -> dict[str, int]:
    """Of the whole installation."""
    return {name: table.objects.count() for name, table in TABLES.items()}


def rows_about(outputs: Iterable[int]) -> tuple[AnswerQuerySet, AnswerQuerySet]:
    """Answers that count about these outputs, and about pairs of which the first is one of them."""
    here = list(outputs)
    return ABOUT_OUTPUT.objects.counted().filter(output__in=here), ABOUT_PAIR.objects.counted().filter(output_a__in=here)
