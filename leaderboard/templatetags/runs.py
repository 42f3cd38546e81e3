"""How a run is written on a page."""

from django import template

register = template.Library()

BADGES = {"improving": "badge-good", "no longer improving": "badge-fair", "getting worse": "badge-poor"}
RULES = {"sequential": "the sequential rule", "losing streak": "the rule of Zhou & Xu (2020)"}


@register.filter
def word_badge(word: str) -> str:
    return BADGES.get(word, "")


@register.filter
def verdict(run) -> str:
    """The verdict of a row or of a whole run; "open" is said by its cause, since a run is closed or open, too."""
    if run["word"] != "open":
        return str(run["word"])
    if run["closed_at"]:
        return "closed"
    if run.get("points") or run.get("strengths"):
        return "cannot tell yet"
    return "not judged yet" if run["waiting"] else "no checkpoints yet"


@register.filter
def rule_name(rule: str) -> str:
    return RULES.get(rule, rule)


@register.filter
def steps(values) -> str:
    """Steps as a list that is read: 500, 1,000 and 1,500."""
    written = [f"{step:,}" for step in sorted(values)]
    return " and ".join([", ".join(written[:-1]), written[-1]]) if len(written) > 1 else "".join(written)
