"""The page that explains the top of a board quotes what boards say."""

from pathlib import Path

import pytest

from leaderboard.boards import cautions, wording

ROOT = Path(__file__).resolve().parents[3]
PAGE = " ".join((ROOT / "docs/boards/first-look.md").read_text(encoding="utf-8").split())
SAID = "".join(Path(str(module.__file__)).read_text(encoding="utf-8") for module in (wording, cautions))


@pytest.mark.parametrize(
    "words",
    [
        " is first",
        "It is above ",
        " so far, but not yet known to be above ",
        " might separate them",
        "; the order of the others is open.",
        "Ranks generalise to other people and other contexts like these.",
        "more pairs may be separated.",
        " For these annotators only, ",
        " are left out",
        " are not accepted",
        "This is board ",
        "Simulated data: judgments made by a program, not by people.",
    ],
)
def test_it_quotes_them_as_they_are(words):
    assert words in SAID
    assert words.strip() in PAGE
