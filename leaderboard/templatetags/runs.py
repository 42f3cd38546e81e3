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
def said_below(run, chart) -> str:
    """What is written below a chart that is saved, a line for each: whose run, the legend, all that is said, and how it was
    made."""
    made, about = run["provenance"], f", on {run['criterion']}" if run["criterion"] else ""
    lines = [
        f"Run {run['name']} of {run['campaign']}, judged by {run['judge']['name']}{about}, on {run['contexts']:,} contexts."
    ]
    if chart.get("best_step") is not None:
        lines.append(f"Diamond: the {'' if chart['best_known'] else 'likeliest '}best, step {chart['best_step']:,}.")
        if len(chart["among_best"]) > 1:
            lines.append("Open circles: not known to be worse.")
        lines += [f"{m['number']}: “{m['word']}” by {rule_name(m['rule'])}, step {m['step']:,}." for m in chart["advice"]]
    snapshot = f"snapshot {made['snapshot']}, " if made["snapshot"] else ""
    return "\n".join([*lines, *run["said"], f"{snapshot}seed {made['seed']}, code {made['code']}."])


@register.filter
def steps(values) -> str:
    """Steps as a list that is read: 500, 1,000 and 1,500."""
    written = [f"{step:,}" for step in sorted(values)]
    return " and ".join([", ".join(written[:-1]), written[-1]]) if len(written) > 1 else "".join(written)
