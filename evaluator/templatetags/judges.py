"""What judges said, for pages of other rooms."""

from typing import Any

from django import template

from annotation.models import Item
from evaluator.metaevaluation.robustness import FEWEST_CASES
from evaluator.reasons import Opinion, opinions

register = template.Library()


@register.filter
def enough_cases(attack: dict[str, Any]) -> bool:
    """Whether a share may be told of a row of `card_figures.attack_table`."""
    return attack["n"] >= FEWEST_CASES


@register.simple_tag
def opinions_on(item: Item) -> list[Opinion]:
    return opinions(item)
