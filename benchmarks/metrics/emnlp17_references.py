"""Human references for the outputs of Novikova et al. (2017), from the corpora that the meaning representations came from.

    python -m benchmarks.metrics.emnlp17_references OUTPUTS --rnnlg FOLDER --bagel FILE > references.jsonl

OUTPUTS is emnlp17.outputs.jsonl. FOLDER is RNNLG's data/original (github.com/shawnwun/RNNLG), with hotel/ and restaurant/
(Wen et al. 2015); FILE is BAGEL's ACL10-inform-training.txt (Mairesse et al. 2010; in github.com/UFAL-DSG/tgen). All texts
that people wrote for the same meaning representation are references: the same act with the same slots and values, whatever
case, quotes and spaces; their order counts in BAGEL alone, where two orders are two rows of the release.

Not the references that the published figures were made with: those may have been fewer, and were tokenised otherwise.
"""

import argparse
import json
import re
import sys
from collections import defaultdict
from collections.abc import Iterator
from pathlib import Path

from benchmarks.studies.judged_sets import lines

CORPORA = {"hotel": "sfhot", "restaurant": "sfres"}  # folder of RNNLG -> beginning of a context_id
STREETS = {"ave": "avenue", "st": "street", "blvd": "boulevard", "dr": "drive"}  # the release shortens them
Meaning = tuple[str, tuple[tuple[str, str], ...]]


def meaning(representation: str, separator: str, ordered: bool = False) -> Meaning:
    """`inform(name='X',area=riverside)` -> ("inform", (("area", "riverside"), ("name", "x"))); ordered: as they stand there."""
    matched = re.fullmatch(r"\s*\??(\w+)\((.*)\)\s*", representation)
    if matched is None:
        raise ValueError(f"{representation!r} is no meaning representation.")
    act, body = matched.groups()
    slots = [part.partition("=") for part in re.split(separator + r"(?=\w+=|\w+$)", body) if part]
    named = [(re.sub("[^a-z0-9]", "", slot.lower()), _value(value)) for slot, _, value in slots]
    act = "inform" if act == "inform_count" else act  # the release writes the one for the other
    return act, tuple(named if ordered else sorted(named))


def alternatives(of: Meaning) -> Meaning:
    """`select(dogs_allowed='yes or no')` as the corpus has it: select(dogs_allowed=yes;dogs_allowed=no)"""
    return of[0], tuple(sorted((slot, part) for slot, value in of[1] for part in value.split(" or ")))


def collected(rnnlg: Path, bagel: Path) -> dict[str, dict[Meaning, list[str]]]:
    """{beginning of a context_id: {meaning: what people wrote}}"""
    found: dict[str, dict[Meaning, list[str]]] = {name: defaultdict(list) for name in (*CORPORA.values(), "bagel")}
    for folder, name in CORPORA.items():
        for part in ("train", "valid", "test"):
            text = (rnnlg / folder / f"{part}.json").read_text(encoding="utf-8")
            for representation, written, _ in json.loads("\n".join(x for x in text.splitlines() if not x.startswith("#"))):
                found[name][meaning(representation, ";")].append(plain(written))
    for representation, written in _bagel(bagel):
        found["bagel"][meaning(representation, ",", ordered=True)].append(plain(written))
    return found


def of_output(row: dict, found: dict[str, dict[Meaning, list[str]]]) -> list[str]:
    """The references of a row of OUTPUTS; none where nobody wrote for its meaning."""
    name = row["context_id"].partition("-")[0]
    asked = meaning(row["context"][0], ",", ordered=name == "bagel")
    return found[name].get(asked) or found[name].get(alternatives(asked)) or []


def plain(written: str) -> str:
    """As the release writes outputs: "restaurant -s ." -> "restaurants.\""""
    return re.sub(r"\s+([.,?!'])", r"\1", re.sub(r" -(s|es|ly)\b", r"\1", written)).strip().lower()


def _value(value: str) -> str:
    return " ".join(STREETS.get(word, word) for word in re.findall("[a-z0-9]+", value.lower().replace("'", "")))


def _bagel(file: Path) -> Iterator[tuple[str, str]]:
    """(abstract meaning representation, what a person wrote of it), names as X"""
    abstract = ""
    for line in file.read_text(encoding="utf-8").splitlines():
        if line.startswith("ABSTRACT_DA"):
            abstract = re.sub(r'"X\d+"', "X", line.partition("=")[2])
        elif matched := re.match(r'->\s*"(.*)"', line):
            yield abstract, re.sub(r"\[[^\]]*\]", "", matched[1])


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("outputs", type=Path)
    parser.add_argument("--rnnlg", type=Path, required=True)
    parser.add_argument("--bagel", type=Path, required=True)
    options = parser.parse_args()
    found, without = collected(options.rnnlg, options.bagel), 0
    by_context: dict[str, list[str]] = {}
    for row in lines(options.outputs):
        references = of_output(row, found)
        without += not references
        by_context.setdefault(row["context_id"], list(dict.fromkeys(references)))
    for context_id, references in by_context.items():
        print(json.dumps({"context_id": context_id, "references": references}))
    print(f"{without} outputs have no reference.", file=sys.stderr)


if __name__ == "__main__":
    main()
