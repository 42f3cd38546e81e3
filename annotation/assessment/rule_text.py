"""A snapshot's rule in words, for pages, the report and the datasheet."""


def rule_in_words(rule: dict) -> str:
    """A snapshot's rule, as far as a person chose it."""
    words = [rule["level"]] if "level" in rule else []
    if "mad" in rule:
        words.append("no filter" if rule["mad"] is None else f"MAD {rule['mad']:g}")
    if rule.get("on_zero_mad") and rule.get("mad") is not None:
        words.append("MAD 0 drops" if rule["on_zero_mad"] == "drop" else "MAD 0 keeps")
    return ", ".join(words) or "–"
