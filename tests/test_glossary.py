"""The glossary and the code use the same words.

Where one of these fails for a module that you have just added: explain its name in docs/glossary.md (a row of a table, or
the list of plain words at its end), or give it a name that needs no explanation.
"""

import re
import tomllib
from pathlib import Path

import pytest
from django.apps import apps

ROOT = Path(__file__).resolve().parent.parent
APPS = ("annotation", "evaluator", "leaderboard")
PRODUCT = ("core", *APPS, "config", "benchmarks")
MOST_MODULES = 20  # of a folder, without its __init__.py

# Nouns of the field, or of English, that end in -ing; any other -ing name says what is done and not what is there.
NOUNS = {
    "annotating",
    "ceiling",
    "encoding",
    "joint_training",
    "meaning",
    "overfitting",
    "pairing",
    "paging",
    "pooling",
    "pretraining",
    "ranking",
    "rating",
    "resampling",
    "throttling",
    "training",
    "utility_training",
    "wording",
}

GLOSSARY = (ROOT / "docs/glossary.md").read_text(encoding="utf-8")
TABLES, PLAIN_WORDS = GLOSSARY.split("\n## Plain words\n")
ROWS = [line.strip("|").split("|") for line in TABLES.splitlines() if line.startswith("| ")]
WHERE = {name for row in ROWS for name in re.findall(r"`([^`]+)`", row[-1])}
PATHS = {name for name in WHERE if "/" in name}


def modules(*folders: Path) -> list[Path]:
    files = [file for folder in folders for file in ([folder] if folder.suffix else folder.rglob("*.py"))]
    return [file for file in files if file.name != "__init__.py" and "migrations" not in file.parts]


def pure_modules() -> list[Path]:
    """The modules that pyproject.toml keeps free of frameworks."""
    contracts = tomllib.loads((ROOT / "pyproject.toml").read_text())["tool"]["importlinter"]["contracts"]
    (contract,) = (contract for contract in contracts if "django" in contract.get("forbidden_modules", ()))
    names = [name.replace(".", "/") for name in contract["source_modules"]]
    return modules(*(room for name in names for room in [*ROOT.glob(name), *ROOT.glob(f"{name}.py")]))


def test_every_row_has_a_term_a_meaning_a_source_and_a_place():
    assert len(ROWS) > 50
    assert [row[0] for row in ROWS if len(row) != 4 or not all(cell.strip() for cell in row)] == []
    assert WHERE


def test_every_place_exists():
    missing = {path for path in PATHS if not (ROOT / path).exists()}
    models = {model._meta.label for app in APPS for model in apps.get_app_config(app).get_models()}
    assert missing | ((WHERE - PATHS) - models) == set()


def test_every_model_is_explained():
    models = {model._meta.label for app in APPS for model in apps.get_app_config(app).get_models()}
    assert models - WHERE == set()


def test_every_module_of_a_pure_room_is_explained():
    plain = set(re.findall(r"`([^`]+)`", PLAIN_WORDS))
    files = pure_modules()
    assert len(files) > 50
    unexplained = {file.relative_to(ROOT).as_posix() for file in files if file.stem not in plain} - PATHS
    assert unexplained == set()


def test_modules_and_folders_are_named_by_nouns():
    paths = [path for room in PRODUCT for path in (ROOT / room).rglob("*") if path.suffix == ".py" or path.is_dir()]
    verbs = {path.relative_to(ROOT).as_posix() for path in paths if path.stem.endswith("ing") and path.stem not in NOUNS}
    assert verbs == set()


@pytest.mark.parametrize("room", PRODUCT)
def test_no_folder_is_too_long_to_read(room):
    folders = [ROOT / room, *(path for path in (ROOT / room).rglob("*") if path.is_dir() and path.name != "migrations")]
    sizes = {folder.relative_to(ROOT).as_posix(): len(list(folder.glob("*.py"))) for folder in folders}
    counts = {name: size - (ROOT / name / "__init__.py").exists() for name, size in sizes.items()}
    assert {name: count for name, count in counts.items() if count > MOST_MODULES} == {}
