"""A page of results is written by the commands that it names."""

import io
import re
import tarfile
from subprocess import CalledProcessError

import pytest

from benchmarks import results
from tests.test_docs import DOCS

PAGE = """# Page

<!-- made by: calendar 2024 2 -->
old
<!-- end -->

By hand.

<!-- made by: no_such_module -->
kept
<!-- end -->
"""


def test_the_commands_output_replaces_what_stood_there(tmp_path, monkeypatch):
    """`python -m calendar 2024 2` prints February 2024, which began on a Thursday and had 29 days."""
    monkeypatch.setattr(results, "code_version", lambda: "0.2.0+abcdef0")
    page = tmp_path / "page.md"
    page.write_text(PAGE)
    assert results.main([str(page), "--only", "calendar"]) == 0
    written = page.read_text()
    assert re.search(r"`python -m calendar 2024 2`, version 0\.2\.0\+abcdef0, 20\d\d-\d\d-\d\d\.\n\n *February 2024\n", written)
    assert "26 27 28 29\n<!-- end -->" in written and "old" not in written
    assert "By hand." in written and "no_such_module -->\nkept\n" in written


def test_a_command_that_fails_changes_nothing(tmp_path):
    page = tmp_path / "page.md"
    page.write_text(PAGE)
    with pytest.raises(CalledProcessError):
        results.main([str(page), "--only", "no_such_module"])
    assert page.read_text() == PAGE


def test_a_page_without_such_a_command_is_refused(tmp_path, capsys):
    page = tmp_path / "page.md"
    page.write_text(PAGE)
    with pytest.raises(SystemExit):
        results.main([str(page), "--only", "verdict"])
    assert "has no command that contains 'verdict'" in capsys.readouterr().err


def test_a_table_gets_the_line_below_its_head():
    assert (
        results.markdown("Title\n\n| a | b |\n| 1 | 2 |\n| 3 | 4 |\n") == "Title\n\n| a | b |\n|---|---|\n| 1 | 2 |\n| 3 | 4 |"
    )
    whole = "| a |\n|---|\n| 1 |\n\n| b |\n| ---: |\n| 2 |"
    assert results.markdown(whole) == whole


def test_each_page_names_modules_that_exist():
    marks = [mark for page in (DOCS / "results").glob("*.md") for mark in results.commands(page.read_text())]
    named = {(command.split()[0], commit) for _, commit, command in marks}
    assert {"benchmarks.suspicion", "benchmarks.verdict"} <= {name for name, _ in named}
    files = {name: results.ROOT / name.replace(".", "/") for name, _ in named}
    gone = {name for name, file in files.items() if not (file.with_suffix(".py").exists() or file.is_dir())}
    assert gone == {name for name, commit in named if commit}


def test_a_benchmark_of_a_commit_measures_todays_code(monkeypatch):
    """The benchmark is not in the checkout; the product is."""
    code = b"import sys, core; print(sys.argv[1], core.__path__[0])"
    packed = io.BytesIO()
    with tarfile.open(fileobj=packed, mode="w") as files:
        for name, text in {"__init__": b"", "gone": code}.items():
            of = tarfile.TarInfo(f"benchmarks/{name}.py")
            of.size = len(text)
            files.addfile(of, io.BytesIO(text))
    monkeypatch.setattr(results, "archived", {"abcdef0": packed.getvalue()}.get)
    assert results.run(["benchmarks.gone", "3"], "abcdef0") == f"3 {results.ROOT}/core\n"
    said = results.made("benchmarks.gone 3", "abcdef0")
    assert said.startswith("`benchmarks.gone 3` of commit abcdef0, version ")
    assert said.endswith(f"\n\n3 {results.ROOT}/core")
