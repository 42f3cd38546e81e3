"""Templates compiled once for each language, so that a constant costs nothing when a page is shown.

Django makes a lazy text of each `{% translate "constant" %}` and looks it up in the catalogue of every app, a hundred calls
each time it is shown. An annotator's item page has 36 of them, and four sentences with variables.
"""

from django.template import Library, Node
from django.template.base import TextNode, render_value_in_context
from django.template.loaders import cached
from django.templatetags import i18n
from django.utils.safestring import SafeString
from django.utils.translation import get_language, gettext

register = Library()
register.tags |= i18n.register.tags
register.filters |= i18n.register.filters


class Loader(cached.Loader):
    """Keeps what it compiled for the language in which it was compiled."""

    def cache_key(self, template_name, skip=None):
        return f"{get_language()}-{super().cache_key(template_name, skip)}"


class Named(Node):
    def __init__(self, name: str, text: SafeString):
        self.name, self.text = name, text

    def render(self, context):
        context[self.name] = self.text
        return ""


@register.tag("translate")
@register.tag("trans")
def translate(parser, token):
    """Translate as Django's tag does; a constant at once, into the language in which the template is compiled."""
    node = i18n.do_translate(parser, token)
    literal = node.filter_expression.var.literal
    if not isinstance(literal, str) or node.noop or node.message_context or node.filter_expression.filters:
        return node
    text = SafeString(gettext(literal.replace("%", "%%")).replace("%%", "%"))
    return Named(node.asvar, text) if node.asvar else TextNode(text)


class Sentence(i18n.BlockTranslateNode):
    """A text with variables, without a plural."""

    sentence: str
    names: list[str]

    def render(self, context, nested=False):
        values = {name: value.resolve(context) for name, value in self.extra_context.items()}
        with context.push(**values):
            return self.sentence % {name: render_value_in_context(context.get(name, ""), context) for name in self.names}


@register.tag("blocktranslate")
@register.tag("blocktrans")
def block_translate(parser, token):
    node = i18n.do_block_translate(parser, token)
    if node.plural or node.message_context or node.asvar:
        return node
    message, names = node.render_token_list(node.singular)
    sentence = gettext(message)
    try:
        sentence % dict.fromkeys(names, "")
    except (KeyError, ValueError):  # a translation that Django then leaves out
        return node
    node.__class__, node.sentence, node.names = Sentence, sentence, names  # type: ignore[attr-defined]
    return node
