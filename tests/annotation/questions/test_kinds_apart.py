"""A kind of question stands by itself: few files of the product know it besides its own.

Which do is found by reading them. The kinds come from the registry. A kind's own files are its folder (or module) in
`annotation/questions`, and those that are called by its name where widgets, scripts, commands and readers stand: `spans.html`,
`import_spans.py`. Any other file knows the kind if the kind's name stands in it as a word, as a part of an identifier or in a
comment, in capitals or not, or if it is a module and has one of the kind's classes. The catalogues of all languages count as
one file, since a program makes them.

A kind therefore needs a name that the product has for nothing else.
"""

import ast
import re
from collections.abc import Mapping
from functools import cache
from pathlib import Path

import pytest

from annotation.questions import registry
from annotation.questions.kind import Kind

ROOT = Path(__file__).resolve().parents[3]
MOST = 8
PRODUCT = ("annotation", "clients", "comparena", "config", "core", "evaluator", "leaderboard", "locale", "static", "templates")
PLACES = ("templates/includes", "static/js/annotate", "annotation/management/commands", "annotation/data/shapes")
READ = {".css", ".html", ".js", ".po", ".py", ".txt"}
GREW_FROM = (registry.SCALE, registry.PAIR)  # what a score and a judgment are: the tables, boards and judges of both know them
KINDS = [kind for kind in registry.kinds() if kind not in GREW_FROM]


@pytest.fixture(scope="module")
def product() -> dict[str, str]:
    """{path: text} of the sources, without other people's."""
    paths = [
        path for room in PRODUCT for path in (ROOT / room).rglob("*") if path.suffix in READ and "vendor" not in path.parts
    ]
    return {path.relative_to(ROOT).as_posix(): path.read_text(encoding="utf-8") for path in paths}


def names_of(kind: Kind) -> set[str]:
    """What it alone is called, in criteria, files and what is sent."""
    said = lambda one: {one.name, one.files, one.part, one.prefix}
    return said(kind) - set().union(*map(said, GREW_FROM))


def home_of(kind: Kind) -> str:
    """Its folder, or its module where it has none."""
    module = type(kind).__module__.split(".")
    return "/".join(module[:3]) + ("/" if len(module) > 3 else ".py")


def words(text: str) -> str:
    """In small letters, with the parts of an identifier apart."""
    return re.sub(r"(?<=[a-z0-9])(?=[A-Z])", "_", text).lower()


@cache  # the same sources are asked about the same kind for each plant
def knows(text: str, name: re.Pattern[str], of_class: re.Pattern[str] | None) -> bool:
    return bool(name.search(words(text)) or of_class and of_class.search(text))


def known_in(kind: Kind, product: Mapping[str, str]) -> list[str]:
    """The files that know the kind and are not its own."""
    name = re.compile(rf"(?<![a-z0-9])(?:{'|'.join(sorted(map(re.escape, names_of(kind))))})(?![a-z0-9])")
    home = [path for path in product if path.startswith(home_of(kind))]
    own = home + [path for path in product if path.rpartition("/")[0] in PLACES and name.search(words(Path(path).stem))]
    trees = [ast.parse(product[path]) for path in home if path.endswith(".py")]
    classes = {node.name for tree in trees for node in tree.body if isinstance(node, ast.ClassDef)}
    of_class = re.compile(rf"\b(?:{'|'.join(sorted(classes))})\b")
    others = {path: text for path, text in product.items() if path not in own}
    found = {path for path, text in others.items() if knows(text, name, of_class if path.endswith(".py") else None)}
    return sorted({path if not path.startswith("locale/") else "locale" for path in found})


def test_there_is_a_kind_to_ask_about():
    assert KINDS and all(names_of(kind) for kind in KINDS)
    assert all((ROOT / home_of(kind)).exists() for kind in KINDS)


@pytest.mark.parametrize("kind", KINDS, ids=lambda kind: kind.name)
def test_few_files_know_it(product, kind):
    found = known_in(kind, product)
    assert len(found) <= MOST, f"{kind.name} is known in {len(found)} files: {', '.join(found)}"


def test_the_documentation_lists_the_files_that_know_error_spans(product):
    section = (
        (ROOT / "docs/architecture.md").read_text(encoding="utf-8").split("\n## A new kind of question\n")[1].split("\n## ")[0]
    )
    table = section.split("| file besides its own |")[1].split("\n\n")[0]
    listed = re.findall(r"^\| `([^`]+)`", table, re.MULTILINE)
    (spans,) = (kind for kind in KINDS if kind.name == "spans")
    assert sorted(listed) == known_in(spans, product)


@pytest.mark.parametrize(
    "path, text",
    [
        ("leaderboard/planted.py", "from annotation.questions.spans import kind"),
        ("leaderboard/planted.py", "from annotation.questions import registry\nregistry.SPANS"),
        ("evaluator/planted.py", 'is_marked = criterion.kind == "spans"'),
        ("evaluator/planted.py", "def import_spans(): ..."),
        ("annotation/assessment/planted.py", "report = SpanAgreement()"),
        ("annotation/assessment/planted.py", "class SpansReport: ..."),
        ("templates/planted.html", "{{ answer.detail.spans }}"),
        ("static/planted.js", 'document.querySelector("[data-spans]")'),
        ("leaderboard/boards/spans.py", "SPANS = 1"),
        ("static/planted.css", ".answer:has(.spans) { margin: 0 }"),
    ],
)
def test_a_planted_name_is_found(product, path, text):
    (spans,) = (kind for kind in KINDS if kind.name == "spans")
    planted = set(known_in(spans, product | {path: text})) - set(known_in(spans, product))
    assert planted == {path}


@pytest.mark.parametrize(
    "path, text",
    [
        ("templates/planted.html", '<span class="muted">a line that spanned two</span>'),
        ("templates/includes/spans_list.html", "spans"),
        ("annotation/questions/spans/planted.py", "spans = 1"),
    ],
)
def test_another_word_or_a_file_of_its_own_is_none(product, path, text):
    (spans,) = (kind for kind in KINDS if kind.name == "spans")
    assert known_in(spans, product | {path: text}) == known_in(spans, product)
