"""How texts and numbers are written on a page."""

from datetime import UTC, datetime, timedelta
from functools import lru_cache

from django import template
from django.urls import reverse
from django.utils import dateformat, timezone
from django.utils.formats import get_format, number_format
from django.utils.html import format_html, json_script
from django.utils.safestring import SafeString, mark_safe
from django.utils.text import Truncator
from django.utils.timesince import timesince
from django.utils.translation import get_language, gettext, gettext_noop

from annotation.annotating import meaning
from annotation.annotating.conversation import conversation
from annotation.assessment.rule_text import rule_in_words
from annotation.campaigns.images import images_in
from annotation.models import Campaign, Context, Criterion
from annotation.quality import p_values
from annotation.questions import registry
from annotation.questions.conditions import in_words
from core import wall_clock
from core.rich_text import page_html, rich_html

register = template.Library()
register.filter(rule_in_words)
register.filter(registry.own_agreement_in_words)
register.filter(registry.beside_in_words)
register.filter("duration", wall_clock.in_words)

MEASURES = {
    "kappa": "Fleiss' kappa",
    "kappa_linear": "Fleiss' kappa, linear weights",
    "alpha_ordinal": "alpha, ordinal",
    "alpha_interval": "alpha, interval",
    "spearman": "Spearman's correlation",
}
# Labels that annotation.annotating.conversation gives, other than "Speaker 1".
SPEAKERS = {gettext_noop("User"), gettext_noop("Assistant"), gettext_noop("System"), gettext_noop("Tool")}
# What the annotator's scripts say (static/js): each name with the text, in which they fill what stands in braces.
SCRIPT_WORDS = {
    "offline": gettext_noop(
        "No connection. Your answer is saved on this device. It is sent as soon as there is a connection again."
    ),
    "trying_again": gettext_noop("No connection. Trying again."),
    "sending": gettext_noop("Sending…"),
    "sending_saved": gettext_noop("Sending an answer that was saved on this device."),
    "not_stored": gettext_noop("An answer that was saved on this device was not stored: {reason}"),
    "answered": gettext_noop("{question}: {answer}."),
    "press_enter": gettext_noop("Press Enter to send."),
    "asked": gettext_noop("Now also asked: {question}."),
    "not_asked": gettext_noop("No longer asked: {question}."),
    "no_such_point": gettext_noop("{question} has no {key}."),
    "context_whole": gettext_noop("The whole context is shown."),
    "context_end": gettext_noop("Only the end of the context is shown."),
    "context_short": gettext_noop("There is no more context to show."),
    "differences": gettext_noop("Marked passages: {a} only in A, {b} only in B."),
    "no_differences": gettext_noop("Both texts have the same words."),
    "differences_hidden": gettext_noop("The differences are no longer marked."),
    "too_long": gettext_noop("These texts are too long to compare word by word."),
    "different": gettext_noop("different:"),
    "copy": gettext_noop("Copy"),
    "copied": gettext_noop("Copied"),
    "copy_by_hand": gettext_noop("Select the text and copy it."),
}
SCRIPT_WORDS |= {name: text for kind in registry.kinds() for name, text in kind.script_words.items()}
RULES = {
    "agreement": "agreement of single answers",
    "reliability": "reliability of the systems' means",
    "zhao-2020": "alpha after the filter, as Zhao et al. (2020)",
}
BADGES = {"accepted": "good", "tentative": "fair", "collect more": "poor", "undefined": "poor"}


@register.filter
@lru_cache(maxsize=256)
def markdown(text: str) -> str:
    """A researcher's Markdown as safe HTML, kept: the same guidelines stand on every item's page."""
    return mark_safe(page_html(text or ""))  # noqa: S308 (cleaned by nh3)


@register.simple_tag
def shown_text(campaign: Campaign, text: str, level: int = 2, most: int = 0) -> str:
    """A text under evaluation, the way the campaign shows its texts, everywhere the same. level: of its first heading;
    most: characters, where a page lists many (0: all)."""
    if most:
        text = Truncator(text).chars(most)
    if not text:
        return format_html('<p class="muted">{}</p>', gettext("(an empty text)"))
    html = None
    if campaign.text_format == Campaign.TextFormat.MARKDOWN:
        images = frozenset(images_in(campaign, text).items())
        html = rich_html(text, level, images, reverse("images", args=[campaign.slug]) if images else "")
    if html is not None:
        return mark_safe(f'<div class="text rich" lang="" dir="auto">{html}</div>')  # noqa: S308 (cleaned by nh3)
    return format_html('<p class="text" lang="" dir="auto">{}</p>', text)


class Fresh(template.Node):
    """A part of what is kept that is rendered each time."""

    GAP = "\0"  # no text holds it (config.middleware.NoNul)

    def __init__(self, nodelist):
        self.nodelist = nodelist

    def render(self, context):
        gaps = context.get("gaps_of_kept")
        if gaps is None:
            return self.nodelist.render(context)
        gaps.append(self.nodelist)
        return self.GAP


class Kept(template.Node):
    """What stands in it is rendered once for each key, and then shown as it was, but for the fresh parts. A template is
    compiled for each language, so each has its own."""

    def __init__(self, nodelist, key, most: int):
        self.nodelist, self.key, self.most = nodelist, key, most
        self.shown: dict = {}

    def render(self, context):
        key = self.key.resolve(context)
        if not key:
            return self.nodelist.render(context)
        if (parts := self.shown.get(key)) is None:
            if len(self.shown) >= self.most:
                self.shown.clear()
            parts = self.shown[key] = self._parts(context)
        begin, rest = parts
        return SafeString(begin + "".join([part for fresh, text in rest for part in (fresh.render(context), text)]))

    def _parts(self, context):
        """(text before the first fresh part, [(fresh part, text after it)])"""
        with context.push(gaps_of_kept=[]) as scope:
            begin, *texts = self.nodelist.render(context).split(Fresh.GAP)
            return begin, list(zip(scope["gaps_of_kept"], texts, strict=True))


@register.tag
def kept(parser, token):
    """{% kept key 100 %}: key holds all that the lines up to {% endkept %} depend on, but for what stands in {% fresh %}; where
    it is empty, they are rendered anew. So many are kept at most."""
    _, key, most = token.split_contents()
    nodelist = parser.parse(("endkept",))
    parser.delete_first_token()
    return Kept(nodelist, parser.compile_filter(key), int(most))


@register.tag
def fresh(parser, token):
    """{% fresh %}: up to {% endfresh %}, in what is kept. It sees what the page was given, and nothing from a loop or a `with`
    around it."""
    nodelist = parser.parse(("endfresh",))
    parser.delete_first_token()
    return Fresh(nodelist)


@register.simple_tag
def script_words() -> str:
    """What the annotator's scripts say, in the page's language."""
    return json_script({name: gettext(text) for name, text in SCRIPT_WORDS.items()}, "words")


@register.filter
def speaker_label(speaker: str) -> str:
    """A speaker's label from annotation.annotating.conversation in the page's language; any other name as it is."""
    if speaker in SPEAKERS:
        return gettext(speaker)
    word, _, number = speaker.partition(" ")
    if word == "Speaker" and number.isdecimal():
        return gettext("Speaker %(number)s") % {"number": number}
    return speaker


@register.inclusion_tag("includes/context.html")
def shown_context(campaign: Campaign, context: Context, of: int | None = None, level: int = 2) -> dict:
    """The input that outputs answer. of: the item's number, where a page shows several."""
    earlier, latest = conversation(context.turns, context.metadata.get("roles"))
    return {
        "campaign": campaign,
        "turns": context.turns,
        "acts": meaning.read(context.turns[0]) if len(context.turns) == 1 else None,
        "earlier": earlier,
        "latest": latest,
        "of": of,
        "level": level,
    }


@register.filter
def asked_only(criterion: Criterion | None) -> str:
    """A criterion's condition, for researchers; empty without one."""
    return in_words(criterion.asked_if) if criterion else ""


@register.filter
def three(value) -> str:
    """A coefficient with three decimals; a dash where it is undefined, or not there at all."""
    return "–" if value in (None, "") else f"{value:.3f}".replace("-", "−")


@register.filter
def p_value(value) -> str:
    return three(value) if value is None else p_values.p_value(value)


@register.filter
def two(value) -> str:
    """The same with two decimals."""
    return "–" if value is None else f"{value:.2f}".replace("-", "−")


@register.filter
def signed(value) -> str:
    """A difference with its sign and two decimals."""
    return "–" if value is None else _with_sign(value, 2)


@register.filter
def points(value) -> str:
    """Rating points with their sign."""
    return "–" if value is None else _with_sign(value, 0)


def _with_sign(value: float, digits: int) -> str:
    """A rounded zero has no sign."""
    rounded = round(value, digits)
    return f"{rounded:+.{digits}f}".replace("-", "−") if rounded else f"{0:.{digits}f}"


@register.filter
def count(value) -> str:
    """A whole number, its thousands set apart as the page's language does."""
    return "–" if value in (None, "") else number_format(value, force_grouping=True)


@register.filter
def share(value) -> str:
    """A share from 0 to 1 as a percentage."""
    return "–" if value in (None, "") else f"{100 * value:.0f}%"


@register.filter
def minutes(value: int) -> str:
    """Whole minutes as a person says them."""
    hours, rest = divmod(value, 60)
    if hours and rest:
        return gettext("%(hours)s h %(minutes)s min") % {"hours": hours, "minutes": rest}
    return gettext("%(hours)s h") % {"hours": hours} if hours else gettext("%(minutes)s min") % {"minutes": rest}


@register.filter
def ago(moment) -> str:
    """How long ago it was, to the minute."""
    now = timezone.now()
    return "less than a minute ago" if now - moment < timedelta(minutes=1) else f"{timesince(moment, now)} ago"


@register.filter
def spaced(text: str) -> str:
    """A slot's name or value from a meaning representation, readable."""
    return text.replace("_", " ")


@register.filter
def answer(value) -> str:
    """A score without needless zeros, or a choice as it is."""
    return f"{value:g}" if isinstance(value, float) else str(value)


@register.filter
def measure_name(name: str) -> str:
    """A measure of agreement as people call it."""
    return MEASURES.get(name, name)


@register.filter
def next_line(outlook) -> str:
    """What it would take to get alpha's interval above the next line; nothing where it is above both."""
    return next((one["sentence"] for one in outlook or [] if one["units"] != 0), "")


@register.filter
def verdict_rule(rule: str) -> str:
    """What a verdict rests on, in words; of verdicts before there was a choice, agreement."""
    return RULES.get(rule, RULES["agreement"])


@register.filter
def verdict_badge(verdict: str) -> str:
    return f"badge-{BADGES.get(verdict, 'poor')}"


@register.filter
def when(moment: datetime):
    """A moment in UTC; js/times.js writes it in the reader's own zone."""
    return _time(moment, "j M Y, H:i", "", " UTC")


@register.filter
def day(moment: datetime):
    """Only its day."""
    return _time(moment, "j M Y" if get_language() == "en" else get_format("DATE_FORMAT"), " data-time=day", "")


def _time(moment: datetime, shape: str, mark: str, zone: str):
    moment = moment.astimezone(UTC)
    shown = dateformat.format(moment, shape)
    return format_html('<time datetime="{}"{}>{}{}</time>', moment.isoformat(timespec="seconds"), mark, shown, zone)


@register.filter
def event_in_words(event) -> str:
    """An audit event in one line: what was done, and to which thing."""
    detail = event.detail
    if event.action == "import":
        return f"{detail.get('rows', 0):,} rows of {detail.get('kind', 'data')} imported from {detail.get('file', 'a file')}"
    names = ("snapshot", "username", "criterion", "label", "purpose", "system", "what")
    thing = event.subject or next((detail[name] for name in names if detail.get(name)), "")
    return f"{event.action}: {thing}" if thing else event.action


@register.filter
def detail_in_words(event) -> str:
    """All that an audit event says besides who and what: "file: a.csv, rows: 12"."""
    return ", ".join(f"{name.replace('_', ' ')}: {_in_words(value)}" for name, value in event.detail.items())


def _in_words(value) -> str:
    if isinstance(value, dict):
        return "; ".join(f"{name} {_in_words(one)}" for name, one in value.items()) or "–"
    if isinstance(value, list):
        return ", ".join(map(_in_words, value)) or "–"
    if isinstance(value, bool) or value is None:
        return {True: "yes", False: "no", None: "–"}[value]
    return str(value)
