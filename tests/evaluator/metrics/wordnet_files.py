"""A WordNet of seven words, in the format of wndb(5WN)."""

from pathlib import Path

LICENCE = "  1 This is for tests. WordNet 9.9 Copyright nobody\n"


def _data(kind: str, *synsets: tuple[str, ...]) -> tuple[str, dict[str, list[int]]]:
    text, places = LICENCE, {}
    for words in synsets:
        for word in words:
            places.setdefault(word.split("(")[0].lower(), []).append(len(text))
        listed = " ".join(f"{word} 0" for word in words)
        text += f'{len(text):08d} 00 {kind} {len(words):02x} {listed} 000 | a meaning; "an example | of it"\n'
    return text, places


def _files() -> dict[str, str]:
    files = {}
    for part, kind, synsets in (
        ("noun", "n", [("dog", "hound"), ("man",)]),
        ("verb", "v", [("go", "travel")]),
        ("adj", "a", [("big(p)", "large"), ("well",)]),
        ("adv", "r", [("well", "good")]),
    ):
        files[f"data.{part}"], places = _data(kind, *synsets)
        rows = [
            f"{word} {kind} {len(o)} 0 {len(o)} 0 {' '.join(f'{i:08d}' for i in o)}  \n" for word, o in sorted(places.items())
        ]
        files[f"index.{part}"] = LICENCE + "".join(rows)
    return files | {"verb.exc": "went go\n"}


FILES = _files()


def write_wordnet(folder: Path) -> Path:
    for name, text in FILES.items():
        (folder / name).write_text(text, encoding="latin-1")
    return folder
