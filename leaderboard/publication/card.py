"""README.md of a snapshot's zip: what it is, what must be said with it, how to get its numbers again. Its head is that of a
data set's card on the Hugging Face Hub."""

import json
import re
from collections.abc import Collection
from typing import Any

from annotation.assessment.rule_text import rule_in_words
from leaderboard.boards import exports
from leaderboard.publication.board_facts import facts
from leaderboard.publication.citation import abstract, title
from leaderboard.publication.published import Published, address

PURPOSES = {
    "snapshot.jsonl": "the answers that the filter kept, with their texts; its SHA-256 is the snapshot's name",
    "scores.jsonl": "every score that was assessed, kept or dropped",
    "judgments.jsonl": "every judgment of a pair that was assessed",
    "preferences.jsonl": "pairs {prompt, chosen, rejected}, as TRL reads them",
    "unpaired.jsonl": "the same unpaired: {prompt, completion, label}",
    "boards/": "each board as JSON and CSV, with its warnings",
    "inspect/": "ratings that Inspect's precomputed_scores reads",
    "every_eval_ever/": "results and rated outputs in the schema of Every Eval Ever 0.3",
    "eval_results/": "a folder for each system's model repository on the Hugging Face Hub",
    "heds.json": "the Human Evaluation Datasheet 3.0, for the form at https://nlp-heds.github.io",
    ".zenodo.json": "for Zenodo",
    "CITATION.cff": "how to cite it",
}


def card(of: Published, names: Collection[str]) -> bytes:
    tags = ["comparena", "human-evaluation", *(["simulated"] if of.simulated else [])]
    tables = {
        name: name.partition(".")[0] for name in ("scores.jsonl", "judgments.jsonl", "preferences.jsonl") if name in names
    }
    head: dict[str, Any] = {"pretty_name": title(of), "tags": tags}
    if tables:
        head["configs"] = [{"config_name": table, "data_files": name} for name, table in tables.items()]
    lines = ["---", *(f"{key}: {json.dumps(value, ensure_ascii=False)}" for key, value in head.items()), "---", ""]
    lines += [f"# {title(of)}", ""]
    if of.simulated:
        lines += ["**Simulated data: programs gave some or all of these answers, not people.**", ""]
    lines += [abstract(of), "", f"Rule: {rule_in_words(of.snapshot.rule)}. Annotators have pseudonyms.", ""]
    lines += ["## Files", "", "| file | what |", "|---|---|"]
    lines += [f"| `{name}` | {what} |" for name, what in PURPOSES.items() if any(n.startswith(name) for n in names)]
    for board in of.boards:
        lines += ["", f"## {facts(board)['question']}, judged by {facts(board)['judged_by']}", ""]
        if url := address(board.provenance.permalink):
            lines += [url, ""]
        lines += _fenced(exports.as_text(board))
    lines += ["", "## The numbers again", "", AGAIN.format(slug=of.campaign.slug)]
    return ("\n".join(lines) + "\n").encode()


def _fenced(text: str) -> list[str]:
    """As it is, whatever a system is called: the fence is longer than any row of backticks in it."""
    fence = "`" * max(3, 1 + max((len(ticks) for ticks in re.findall("`+", text)), default=0))
    return [f"{fence}text", text, fence]


AGAIN = """A signature names all that can change a digit: method, seed, snapshot and the version of the code. With the archive
of the campaign (`manage.py export_campaign {slug}`), `import_campaign` and `run_tournament` give the same board."""
