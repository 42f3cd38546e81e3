"""A snapshot's rule in words, for pages, the report and the datasheet."""

from annotation.quality.verdict import Rule


def rule_in_words(rule: dict) -> str:
    """A snapshot's rule, as far as a person chose it."""
    words = [rule["level"]] if "level" in rule else []
    if "mad" in rule:
        words.append("no filter" if rule["mad"] is None else f"MAD {rule['mad']:g}")
    if rule.get("on_zero_mad") and rule.get("mad") is not None:
        words.append("MAD 0 drops" if rule["on_zero_mad"] == "drop" else "MAD 0 keeps")
    if rule.get("verdict") == Rule.ZHAO:
        words.append("verdict as Zhao et al. (2020)")
    if rule.get("taste"):
        words.append(f"taste: {', '.join(rule['taste'])}")
    return ", ".join(words) or "–"
