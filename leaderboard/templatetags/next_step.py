"""The line that says what to do next, under a campaign's tabs."""

from django import template

from leaderboard import next_step as steps

register = template.Library()


@register.inclusion_tag("includes/next_step.html", takes_context=True)
def next_step(context, campaign):
    """For pages that the campaign's researchers alone see."""
    step = steps.next_step(campaign)
    match = getattr(context.get("request"), "resolver_match", None)
    return {"step": step, "address": step.address(campaign), "is_here": match and match.url_name == step.page}
