"""The kinds of questions that there are, and which questions are asked about what."""

from collections.abc import Mapping
from typing import Any

from annotation.models import Campaign, Criterion, Item
from annotation.questions import conditions
from annotation.questions.answer_files import FILES
from annotation.questions.columns import AnswerFile
from annotation.questions.kind import Kind, Question
from annotation.questions.pair import Pair, pair_of
from annotation.questions.ranked.kind import ranked_of
from annotation.questions.scale import Scale
from annotation.questions.spans.kind import Spans
from core.errors import Refused, quoted

SCALE, PAIR, SPANS = Scale(), Pair(), Spans()
_kinds: dict[str, Kind] = {}


def register(kind: Kind) -> None:
    """Raises ValueError where another kind has its name or its file's, or its answers would be mixed up with another's."""
    for other in kinds():
        shares = (kind.part == other.part or kind.prefix == other.prefix) and type(kind).typed is not type(other).typed
        if kind.name == other.name or kind.files == other.files or shares:
            raise ValueError(f"{kind.name}: {other.name} is known by the same name.")
    _kinds[kind.name] = kind
    FILES.setdefault(kind.files, AnswerFile(kind.sides, tuple(kind.fields)))


def unregister(kind: Kind) -> None:
    """What asked by this kind can't be shown from then on."""
    _kinds.pop(kind.name, None)
    FILES.pop(kind.files, None)


def kinds() -> list[Kind]:
    """In the order in which they were registered."""
    return list(_kinds.values())


def kind_named(name: str) -> Kind:
    if name not in _kinds:
        raise Refused(f"There is no kind of question {quoted(name)}; there are: {', '.join(_kinds)}.")
    return _kinds[name]


def of_files(what: str) -> Kind | None:
    """Whose answers a file called so holds."""
    return next((kind for kind in kinds() if kind.files == what), None)


def of_part(part: str) -> Kind | None:
    """Whose answers stand in this part of what was sent."""
    return next((kind for kind in kinds() if kind.part == part), None)


def about_outputs() -> list[Kind]:
    """Those that a criterion may have."""
    return [kind for kind in kinds() if kind.sides == 1]


def about_output(criterion: Criterion) -> Question:
    return Question(kind_named(criterion.kind), criterion)


def about_pair(campaign: Campaign, criterion: Criterion | None = None) -> Question:
    """On so many points as the campaign asks."""
    return Question(pair_of(campaign.pair_points, campaign.pair_both_bad), criterion)


def asked(campaign: Campaign, item: Item) -> list[Question]:
    """What an annotator is asked about an item, in order."""
    if not item.is_pair:
        turn = turn_of(campaign, item)
        return [about_output(criterion) for criterion in campaign.asked if conditions.holds_at(criterion.asked_if, turn)]
    criteria: list[Criterion | None] = [*campaign.asked] if campaign.pairwise_by_criterion else [None]
    if item.size > 2:
        return [Question(ranked_of(item.size, campaign.best_worst), criterion) for criterion in criteria]
    return [about_pair(campaign, criterion) for criterion in criteria]


def turn_of(campaign: Campaign, item: Item) -> conditions.Turn:
    """Which turn of a conversation an item is about; None also where no question depends on it, so that nothing is read."""
    depends = any(conditions.TURN in criterion.asked_if for criterion in campaign.asked)
    return item.context.turn if depends and not item.is_pair else None


def unasked(campaign: Campaign, item: Item, answer: Mapping[str, Any]) -> list[Criterion]:
    """The criteria whose condition does not hold, by what was sent about an output."""
    if not any(criterion.asked_if for criterion in campaign.asked):
        return []
    said = lambda criterion: _said(about_output(criterion), answer)
    return conditions.not_asked(campaign.asked, said, turn_of(campaign, item))


def without_unasked(campaign: Campaign, item: Item, answer: dict[str, Any]) -> tuple[dict[str, Any], list[str]]:
    """What was sent less the answers to questions whose condition does not hold, and the names of their criteria."""
    questions = map(about_output, unasked(campaign, item, answer))
    left = [question for question in questions if question.kind.sent(answer, question) is not None]
    kept = dict(answer)
    for question in left:
        part = question.kind.part
        kept[part] = {key: value for key, value in kept[part].items() if str(key) != str(question.key)}
    return kept, [question.name for question in left]


def _said(question: Question, answer: Mapping[str, Any]) -> float | None:
    """The number that was sent for it; None where there is none, or it is wrong, which is said elsewhere."""
    sent = question.kind.sent(answer, question)
    if sent is None or question.kind.name != conditions.DECIDES:
        return None
    try:
        return question.kind.given(question, sent).value
    except Refused:
        return None


def posted(form: Mapping[str, str]) -> dict[str, Any]:
    """{part: {criterion id: answer}}, or {"choice": side}, of all that a form has."""
    answers: dict[str, Any] = {}
    for kind in kinds():
        answers |= kind.posted(form)
    return answers | ranked_of(3, False).posted(form)


def own_agreement_in_words(report: Mapping[str, Any]) -> str:
    """What a report says of figures that only some kind has."""
    return " ".join(filter(None, (kind.own_agreement_in_words(report) for kind in kinds())))


def of_row(row) -> Question:
    """What a stored answer answers; its criterion is loaded."""
    return Question(PAIR, row.criterion) if isinstance(row, PAIR.table) else about_output(row.criterion)


def beside_in_words(row) -> str:
    """What a stored answer says beside what counts; its criterion is loaded."""
    return of_row(row).kind.beside_in_words(row)


def all_questions(campaign: Campaign) -> list[Question]:
    """Everything that may have been asked: outputs by criterion, pairs on the whole, pairs by criterion."""
    criteria = list(campaign.criteria.all())
    return [*map(about_output, criteria), *(about_pair(campaign, criterion) for criterion in (None, *criteria))]


register(SCALE)
register(PAIR)
register(SPANS)
