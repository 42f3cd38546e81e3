"""Who is to be cited, and how: CITATION.cff (1.2.0) and .zenodo.json. What only a person knows is to be written."""

import json
from typing import Any

from core.version import VERSION
from leaderboard.publication.published import Published

AUTHOR = "To be written"
KEYWORDS = ["human evaluation", "natural language generation", "inter-annotator agreement", "Comparena"]


def title(of: Published) -> str:
    """Whether the judgments were accepted is a question's own verdict, so no title says it."""
    return f"{of.campaign.title}: human judgments, snapshot {of.snapshot.name}" + (" (simulated)" if of.simulated else "")


def abstract(of: Published) -> str:
    """With what must be said of the answers and the boards, and the boards' signatures."""
    kept = f"{of.snapshot.scores:,} scores and {of.snapshot.judgments:,} judgments of pairs by {len(_people(of)):,} annotators"
    count = f"{kept}, which the filter kept."
    simulated = ["SIMULATED DATA: programs gave some or all of these answers, not people."] if of.simulated else []
    signatures = [f"Board: {board.provenance.signature}." for board in of.boards]
    return " ".join([*simulated, count, f"SHA-256 {of.snapshot.digest}.", *of.warnings, *signatures])


def _people(of: Published) -> set[str]:
    rows = [*of.content.scores, *of.content.judgments, *of.content.criterion_judgments]
    return {row["annotator"] for row in rows}


def files(of: Published) -> dict[str, bytes]:
    keywords = [*KEYWORDS, *(["simulated data"] if of.simulated else [])]
    day = f"{of.snapshot.accepted_at:%Y-%m-%d}"
    zenodo: dict[str, Any] = {
        "title": title(of),
        "upload_type": "dataset",
        "description": abstract(of),
        "creators": [{"name": AUTHOR}],
        "version": of.snapshot.name,
        "publication_date": day,
        "keywords": keywords,
        "notes": f"Made with Comparena {VERSION}. The licence is to be written.",
    }
    cff: dict[str, Any] = {
        "cff-version": "1.2.0",
        "message": "If you use these judgments, please cite them, and print the signature of each board.",
        "type": "dataset",
        "title": title(of),
        "authors": [{"name": AUTHOR}],
        "version": of.snapshot.name,
        "date-released": day,
        "keywords": keywords,
        "abstract": abstract(of),
    }
    lines = [f"{key}: {json.dumps(value, ensure_ascii=False)}\n" for key, value in cff.items()]  # JSON values are YAML
    return {
        ".zenodo.json": (json.dumps(zenodo, ensure_ascii=False, indent=1) + "\n").encode(),
        "CITATION.cff": "".join(lines).encode(),
    }
