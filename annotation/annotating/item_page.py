"""What an annotator's page shows of one item, and what its form sends back. Nothing here names a system."""

import time
import uuid
from collections.abc import Mapping, Sequence
from operator import attrgetter
from typing import Any

from django.core import signing

from annotation.campaigns.images import images_in
from annotation.campaigns.protocol import CriterionSpec
from annotation.models import Assignment, Campaign, Context, Criterion, Item, Output
from annotation.questions import conditions, registry
from annotation.questions.kind import Question
from annotation.questions.store import REASON_LENGTH

SHOWN = "annotation.shown"  # salt of the signed time at which a page was shown
ASKED = "How can I learn to juggle?"
ASKED_THEN = "I drop them all the time. What do you advise?"
ANSWERED = (  # what nobody wrote for a campaign
    "Start with one ball and throw it from hand to hand at the height of your eyes. Then take two, and throw the second when "
    "the first is at its highest point.",
    "Juggling is a skill that many people enjoy.",
    "Throw two balls in turn, and catch each where you would throw the next one from.",
    "Balls, clubs and rings can be juggled.",
    "Practise with scarves first, since they fall slowly.",
    "Somebody who juggles can show you.",
    "Stand before a wall, so that the balls stay near you.",
)
KEPT_CONTEXT = 4000  # characters
OF_CAMPAIGN = attrgetter(*(field.attname for field in Campaign._meta.concrete_fields if field.name != "drawn"))
OF_CRITERION = attrgetter(*(field.attname for field in Criterion._meta.concrete_fields))
PAGES = {1: "annotation/score.html", 2: "annotation/pair.html"}  # by how many outputs an item shows
SEVERAL = "annotation/several.html"
LETTERS = "ABCDEFG"


def item_context(campaign: Campaign, item: Item, shown: Sequence[Output], answer=None, refused=None) -> dict:
    """What the item's templates need. shown: its outputs in the order in which they stand there. answer: as answer_of gives it,
    to be shown filled in; refused: why it was not stored, so that what is missing is marked."""
    questions = registry.asked(campaign, item)
    suggested = {} if answer else suggestions(questions, item)
    answer = answer or first_answer(suggested)
    return {
        "campaign": campaign,
        "item": item,
        "context": item.output.context,
        "output": item.output,
        "left": shown[0],
        "right": shown[-1],
        "lettered": list(zip(LETTERS, shown)),
        "marked_texts": marked_texts(campaign, item) if any(question.kind.marks_texts for question in questions) else None,
        "scripts": sorted({question.kind.script for question in questions} - {""}),
        "questions": [question.kind.widget(question, answer, bool(refused)) for question in questions],
        "keys": list(dict.fromkeys(key for question in questions for key in question.keys)),
        "reason": answer.get("reason", ""),
        "reason_length": REASON_LENGTH,
        "refused": refused,
        "turn": item.output.context.turn,
        "suggested": {question.criterion for question in suggested},
    }


def suggestions(questions: Sequence[Question], item: Item) -> dict[Question, Any]:
    """What somebody, or a model, answered before, where that is to be gone through again."""
    found = {question: question.kind.suggested(question, item) for question in questions if question.kind.takes_suggestions}
    return {question: sent for question, sent in found.items() if sent is not None}


def first_answer(suggested: Mapping[Question, Any]) -> dict:
    """What the form begins with: where nothing was found, people say so themselves."""
    answer: dict[str, dict] = {}
    for question, sent in suggested.items():
        if sent:
            answer.setdefault(question.kind.part, {})[question.key] = sent
    return answer


def examples(campaign: Campaign, specs: Sequence[CriterionSpec]) -> list[dict]:
    """What people would be asked of these criteria by a campaign that is not stored, about texts made up for it: an output,
    a pair or a ranking, or both."""
    campaign.asked = [Criterion(pk=n, campaign=campaign, **spec.fields()) for n, spec in enumerate(specs, start=1)]
    context = Context(campaign=campaign, turns=[ASKED])
    outputs = [Output(pk=n, context=context, text=text) for n, text in enumerate(ANSWERED, start=1)]
    output, other, *further = outputs[: campaign.outputs_at_once]
    items = [Item(campaign=campaign, context=context, output=output)] if campaign.likert else []
    if items and any(conditions.TURN in spec.asked_if for spec in specs):
        items = _example_turns(campaign)
    if campaign.pairwise:
        items.append(Item(campaign=campaign, output=output, other=other, further=[one.pk for one in further]))
        items[-1].further_outputs = further
    return [item_context(campaign, item, item.texts) for item in items]


def _example_turns(campaign: Campaign) -> list[Item]:
    """The two turns of a conversation, of which the second one is the last."""
    said, items = [ASKED, ANSWERED[0], ASKED_THEN, ANSWERED[4]], []
    for turn in (1, 2):
        before = said[: 2 * turn - 1]
        place = {"conversation": "example", "turn": turn, "turns": 2, "roles": ["user", "assistant", "user"][: len(before)]}
        context = Context(campaign=campaign, turns=before, metadata=place)
        items.append(Item(campaign=campaign, context=context, output=Output(pk=turn, context=context, text=said[len(before)])))
    return items


def marked_texts(campaign: Campaign, item: Item) -> dict:
    """The texts as they were imported, in which errors are marked; the names of pictures, which people do not see, as dots, so
    that all other characters stand where they stood."""
    output, context = item.output, item.output.context
    return {"output": _dotted(campaign, output.text), "source": [_dotted(campaign, turn) for turn in context.turns]}


def _dotted(campaign: Campaign, text: str) -> str:
    shown_as_pictures = campaign.text_format == Campaign.TextFormat.MARKDOWN
    for name in images_in(campaign, text) if shown_as_pictures else ():
        text = text.replace(f"({name}", "(" + "•" * len(name))
    return text


def page_key(campaign: Campaign, item: Item, *parts: bool) -> tuple:
    """All that the page of an item depends on, while nothing is filled in, but for what is fresh in its template: the campaign
    and its questions, never the texts. parts: which parts it has."""
    asked = [OF_CRITERION(criterion) for criterion in campaign.asked]
    of_turn = None if item.is_pair else tuple(question.key for question in registry.asked(campaign, item))
    return item.size, *parts, of_turn, *OF_CAMPAIGN(campaign), repr(asked)


def context_key(campaign: Campaign, context: Context) -> tuple | None:
    """All that a context on a page depends on; None where it is too long to be kept, or not plain."""
    if campaign.text_format != Campaign.TextFormat.PLAIN or sum(map(len, context.turns)) > KEPT_CONTEXT:
        return None
    return *context.turns, repr(context.metadata.get("roles"))


def page_of(item: Item) -> str:
    """The template of its page."""
    return PAGES.get(item.size, SEVERAL)


def answer_of(posted) -> dict:
    """{part: {criterion id: answer}}, or {"choice": side}, of what was filled in, with the reason if one was given; the service
    says what is missing."""
    answer = registry.posted(posted)
    if posted.get("reason", "").strip():
        answer["reason"] = posted["reason"].strip()
    return answer


def answer_again(payload: dict) -> dict:
    """A stored submission's payload, to be shown in the form once more."""
    return {k: {int(pk): v for pk, v in a.items()} if isinstance(a, dict) else a for k, a in payload.items()}


def hidden_fields(assignment: Assignment, posted=None) -> dict:
    """The key that makes an answer count once, and when its item was shown; both stay where a form comes back."""
    return {
        "assignment": assignment,
        "key": (posted and key_of(posted)) or uuid.uuid4(),
        "shown": (posted and posted.get("shown")) or signing.dumps([assignment.pk, time.time()], salt=SHOWN),
    }


def times_of(posted, assignment_id: int | None) -> dict:
    """seconds from showing the page to now, None where the signed time is missing or of another item; active_seconds as
    the page measured them, never more than that."""
    try:
        shown_assignment, shown_at = signing.loads(posted.get("shown", ""), salt=SHOWN)
    except signing.BadSignature:
        return {"seconds": None, "active_seconds": None}
    if shown_assignment != assignment_id:
        return {"seconds": None, "active_seconds": None}
    seconds = max(0.0, time.time() - shown_at)
    active = number(posted.get("active"))
    return {"seconds": seconds, "active_seconds": None if active is None else min(max(0, active) / 1000, seconds)}


def key_of(posted) -> uuid.UUID | None:
    try:
        return uuid.UUID(posted.get("key", ""))
    except ValueError:
        return None


def number(text: str | None) -> int | None:
    """A whole number that a database may be asked for; None where the text is none."""
    try:
        asked = int(text or "")
    except ValueError:
        return None
    return asked if abs(asked) < 2**63 else None
