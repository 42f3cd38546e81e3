"""axe-core on a page as it stands: one assertion for every page's test."""

from pathlib import Path

import axe_playwright_python

AXE = Path(axe_playwright_python.__file__).with_name("axe.min.js").read_text(encoding="utf-8")
WCAG_AND_BEST_PRACTICE = ["wcag2a", "wcag2aa", "wcag21a", "wcag21aa", "wcag22aa", "best-practice"]
QUICK = {"resultTypes": ["violations"], "preload": False}
CONTRAST = {**QUICK, "runOnly": {"type": "rule", "values": ["color-contrast"]}}
EVERYTHING = {
    **QUICK,
    "runOnly": {"type": "tag", "values": WCAG_AND_BEST_PRACTICE},
    "rules": {"target-size": {"enabled": True}},  # WCAG 2.2's, off by default
}


def assert_axe_clean(page):
    """No violation of WCAG 2.2 A or AA, nor of axe's best practices; contrast is looked at in light and dark.

    The script comes in over the debugger's wire, so the page's Content-Security-Policy stays in force.
    """
    page.evaluate(AXE)
    found = {}
    for scheme, options in (("light", EVERYTHING), ("dark", CONTRAST)):
        page.emulate_media(color_scheme=scheme, reduced_motion="reduce")
        for violation in page.evaluate("options => axe.run(document, options)", options)["violations"]:
            places = [f"{node['html']} ({node['failureSummary']})" for node in violation["nodes"]]
            found[f"{violation['id']} in {scheme}: {violation['help']}"] = places
    page.emulate_media(color_scheme="null", reduced_motion="null")
    assert not found, f"axe on {page.url}: " + "; ".join(f"{rule}: {' | '.join(places)}" for rule, places in found.items())
