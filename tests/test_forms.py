"""What forms send is a word or a number of ours, never somebody's name behind a sign that says what it is."""

import ast
from pathlib import Path

ROOT = Path(__file__).parents[1]
SIGNS = {":", "+", "=", "&"}


def decoded(path: Path) -> list[str]:
    """Where a string is told apart by its first character, or made with such a character before a name."""
    found = []
    for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
        if isinstance(node, ast.JoinedStr) and len(node.values) == 2:
            first, second = node.values
            made = isinstance(first, ast.Constant) and first.value in SIGNS and isinstance(second, ast.FormattedValue)
        elif isinstance(node, ast.Compare):
            texts = [part.value for part in node.comparators if isinstance(part, ast.Constant) and isinstance(part.value, str)]
            made = isinstance(node.left, ast.Subscript) and any(text and set(text) <= SIGNS for text in texts)
        elif isinstance(node, ast.Dict):
            keys = {key.value for key in node.keys if isinstance(key, ast.Constant) and isinstance(key.value, str)}
            made = bool(keys) and keys <= SIGNS
        else:
            made = False
        if made:
            found.append(f"{path.relative_to(ROOT)}:{node.lineno}")
    return found


def test_no_form_or_view_decodes_a_sign_before_a_name():
    files = [*ROOT.glob("leaderboard/**/*.py"), *ROOT.glob("evaluator/**/*.py"), *ROOT.glob("annotation/forms/*.py")]
    assert len(files) > 150
    assert [place for path in files for place in decoded(path)] == []


def test_the_decoding_of_before_would_be_found(tmp_path, monkeypatch):
    monkeypatch.setitem(globals(), "ROOT", tmp_path)
    path = tmp_path / "forms.py"
    path.write_text('x = f":{name}"\njudges = {":": 1, "+": 2}\nversion = a if judge[0] in ":+" else b\ny = judge[:1] == "="\n')
    assert [place.rpartition(":")[2] for place in sorted(decoded(path))] == ["1", "2", "3", "4"]
