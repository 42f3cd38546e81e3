"""What judges said, for pages of other rooms."""

from django import template

from annotation.models import Item
from evaluator.reasons import Opinion, opinions

register = template.Library()


@register.simple_tag
def opinions_on(item: Item) -> list[Opinion]:
    return opinions(item)
