"""The documentation is short, and what it names exists: pages, anchors, commands, options and benchmarks.

Where the first test fails: split the page, one idea each, or say in REFERENCES why nobody reads it from top to bottom.
"""

import importlib.util
import re
import tomllib
import unicodedata
from functools import cache
from pathlib import Path

import pytest
from django.core.management import get_commands, load_command_class

from benchmarks.studies.__main__ import parser as reproduce
from leaderboard.offline.commands import PARSERS

ROOT = Path(__file__).resolve().parent.parent
DOCS = ROOT / "docs"
MOST_WORDS = 1_500
REFERENCES = {"docs/glossary.md", "docs/architecture.md"}  # looked up, not read: the terms, the plan of the code
PAGES = sorted(path.relative_to(ROOT).as_posix() for path in DOCS.rglob("*.md"))
CHECKED = [*PAGES, "README.md", "CONTRIBUTING.md"]
CODE_FOLDERS = ("annotation", "benchmarks", "clients", "config", "core", "evaluator", "leaderboard", "systemd", "templates")
CODE = re.compile(r"^(?:    |\t).*$|^```.*?^```|`[^`\n]+`", re.MULTILINE | re.DOTALL)


@cache
def text(page: str) -> str:
    return (ROOT / page).read_text(encoding="utf-8")


def words(page: str) -> int:
    """Of a page of results without its tables: commands write those, and readers look up rows."""
    lines = text(page).splitlines()
    return sum(len(line.split()) for line in lines if not (page.startswith("docs/results/") and line.startswith("|")))


def anchors(page: str) -> set[str]:
    """The ids of its headings, as Python-Markdown's `slugify` makes them (https://python-markdown.github.io/extensions/toc/)."""
    headings = re.findall(r"^#+ (.+)$", text(page), re.MULTILINE)
    plain = [re.sub(r"\[([^\]]*)\]\([^)]*\)|[`*]", r"\1", heading) for heading in headings]
    ascii_only = [unicodedata.normalize("NFKD", heading).encode("ascii", "ignore").decode() for heading in plain]
    return {re.sub(r"[-\s]+", "-", re.sub(r"[^\w\s-]", "", heading).strip().lower()) for heading in ascii_only}


def links(page: str) -> list[tuple[str, str]]:
    """(file from the repository's root, anchor or "") of each relative link outside code."""
    targets = re.findall(r"\]\(([^)\s]+)\)", CODE.sub("", text(page)))
    relative = [target.partition("#") for target in targets if not re.match(r"[a-z]+:", target)]
    folder = (ROOT / page).parent
    return [((folder / path).resolve().relative_to(ROOT).as_posix() if path else page, anchor) for path, _, anchor in relative]


def command_lines(page: str) -> list[list[str]]:
    """What follows `manage.py` or `comparena`, word by word, in each piece of code that begins with one of them."""
    pieces = [line.strip("` ") for piece in CODE.findall(text(page)) for line in piece.replace("\\\n", " ").splitlines()]
    found = [re.match(r"(?:\S*python3? )?(?:\S*manage\.py|comparena) ([a-z_]+\b.*)", piece) for piece in pieces]
    return [match[1].split(" #")[0].split() for match in found if match]


@cache
def options_of(command: str) -> set[str] | None:
    """None where there is no such command."""
    if command in (parsers := {**PARSERS, "reproduce": reproduce}):
        return {option for action in parsers[command]()._actions for option in action.option_strings}
    if command not in get_commands():
        return None
    parser = load_command_class(get_commands()[command], command).create_parser("manage.py", command)
    return {option for action in parser._actions for option in action.option_strings}


@pytest.mark.parametrize("page", sorted(set(PAGES) - REFERENCES))
def test_a_page_is_short(page):
    assert words(page) <= MOST_WORDS


def test_every_link_leads_somewhere():
    broken = [
        (page, path, anchor)
        for page in CHECKED
        for path, anchor in links(page)
        if not (ROOT / path).exists() or (anchor and path.endswith(".md") and anchor not in anchors(path))
    ]
    assert broken == []


def test_every_page_is_in_the_menu_and_two_clicks_from_the_first():
    def pages(entry: str | list[dict]) -> list[str]:
        if isinstance(entry, str):
            return [f"docs/{entry}"]
        return [page for part in entry for value in part.values() for page in pages(value)]

    assert sorted(pages(tomllib.loads(text("zensical.toml"))["project"]["nav"])) == PAGES
    first = {path for path, _ in links("docs/index.md")}
    second = {path for page in first if page.endswith(".md") for path, _ in links(page)}
    assert set(PAGES) - first - second - {"docs/index.md"} == set()


def test_every_command_and_option_exists():
    wrong = []
    for page in CHECKED:
        for command, *arguments in command_lines(page):
            options = options_of(command)
            named = {word.split("=")[0] for word in arguments if word.startswith("--")}
            wrong += [(page, command)] if options is None else [(page, command, name) for name in named - options]
    assert wrong == []


def test_every_benchmark_exists():
    names = {(page, name) for page in CHECKED for name in re.findall(r"python -m (benchmarks[\w.]*\w)", text(page))}
    assert len(names) > 10
    assert [(page, name) for page, name in sorted(names) if importlib.util.find_spec(name) is None] == []


def test_every_page_that_the_code_names_exists():
    named = {
        (path.relative_to(ROOT).as_posix(), name)
        for folder in CODE_FOLDERS
        for path in (ROOT / folder).rglob("*")
        if path.suffix in {".py", ".html", ".toml", ".service"}
        for name in re.findall(r"(?<![\w/])docs/[\w/-]+\.md(?! in its repository)", path.read_text(encoding="utf-8"))
    }
    assert named
    assert {(path, name) for path, name in named if name not in PAGES} == set()


def test_every_module_and_folder_of_the_code_that_a_page_names_exists():
    """`leaderboard/rating/glicko2.py`, `annotation/design/`; a bare `glicko2.py` may lie anywhere. NAME stands for any."""
    files = {path.name for folder in CODE_FOLDERS for path in (ROOT / folder).rglob("*.py")} | {"manage.py"}
    pieces = {(page, piece.strip("`")) for page in CHECKED for piece in re.findall(r"`[\w/.-]+`", text(page))}
    paths = {
        (page, name)
        for page, name in pieces
        if name.split("/")[0] in {*CODE_FOLDERS, "tests"} and "/" in name and "NAME" not in name
    }
    bare = {(page, name) for page, name in pieces if re.fullmatch(r"\w+\.py", name) and page != "docs/architecture.md"}
    assert len(paths) > 50
    missing = {(page, name) for page, name in paths if not (ROOT / name).exists()}
    assert missing | {(page, name) for page, name in bare if name not in files} == set()


@pytest.mark.parametrize(
    "page", sorted({page for page in PAGES if page.startswith("docs/results/")} - {"docs/results/index.md"})
)
def test_a_page_of_results_says_how_it_was_made(page):
    """A command, a commit, a date; and a seed, or how many were drawn."""
    assert re.search(r"python -m |manage\.py |make |`benchmarks\.\w", text(page))
    assert re.search(r"commits? [0-9a-f]{7}|version \d", text(page))
    assert re.search(r"20\d\d-\d\d-\d\d", text(page))
    assert re.search(r"\bseeds?\b|\bruns\b", text(page), re.IGNORECASE)


class TestTheChecks:
    """On a page of our own."""

    def page(self, monkeypatch, content: str) -> str:
        monkeypatch.setattr(f"{__name__}.text", lambda page: content)
        return "docs/page.md"

    def test_a_command_is_found_in_a_sentence_and_in_a_block(self, monkeypatch):
        page = self.page(monkeypatch, "See `manage.py serve --x`, not manage.py a.\n\n    python manage.py b --c d  # e\n")
        assert command_lines(page) == [["serve", "--x"], ["b", "--c", "d"]]

    def test_options_are_those_of_the_command(self):
        assert "--judge" in options_of("run_tournament") and "--judge" not in options_of("serve")
        assert options_of("start_tournament") is None

    def test_a_heading_with_marks_has_a_plain_anchor(self, monkeypatch):
        assert anchors(self.page(monkeypatch, "# 6. A plan (`x`): it's *so*\n")) == {"6-a-plan-x-its-so"}

    def test_rows_of_results_are_not_words(self, monkeypatch):
        self.page(monkeypatch, "Two words\n| a | row |\n")
        assert (words("docs/results/page.md"), words("docs/page.md")) == (2, 7)
