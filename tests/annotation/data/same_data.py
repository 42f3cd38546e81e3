"""One set of votes as the files of five tools: Arena, AlpacaEval's cross-annotations, TRL's preferences, MT-bench and our own.

votes: rows {context_id, context (a list with one text), system_a, output_a, system_b, output_b, annotator, choice}. Contexts
are known by their ids, but in AlpacaEval's files where the tool's inputs had none; `contexts` is imported first.
"""

from collections.abc import Callable, Iterable

Rows = Iterable[dict]


def plain(votes: Rows) -> list[dict]:
    return list(votes)


def contexts(votes: Rows) -> list[dict]:
    """The outputs."""
    found = {}
    for vote in votes:
        for side in "ab":
            about = {"context_id": vote["context_id"], "context": vote["context"], "system": vote[f"system_{side}"]}
            found[vote["context_id"], vote[f"system_{side}"]] = about | {"output": vote[f"output_{side}"]}
    return list(found.values())


def _chat(vote: dict, side: str) -> list[dict]:
    return [{"role": "user", "content": "\n".join(vote["context"])}, {"role": "assistant", "content": vote[f"output_{side}"]}]


def _conversations(vote: dict) -> dict:
    return {f"conversation_{side}": _chat(vote, side) for side in "ab"} | {f"model_{s}": vote[f"system_{s}"] for s in "ab"}


def arena(votes: Rows) -> list[dict]:
    words = {"A": "model_a", "B": "model_b", "tie": "tie"}
    about = lambda vote: {"id": vote["context_id"], "winner": words[vote["choice"]], "user": vote["annotator"]}
    return [about(vote) | _conversations(vote) for vote in votes]


def mt_bench(votes: Rows) -> list[dict]:
    words = {"A": "model_a", "B": "model_b", "tie": "tie"}
    about = lambda vote: {"question_id": vote["context_id"], "winner": words[vote["choice"]], "judge": vote["annotator"]}
    return [about(vote) | {"turn": 1} | _conversations(vote) for vote in votes]


def alpaca_eval(votes: Rows) -> list[dict]:
    """With the column idx of its inputs, which it writes with the annotations (tests/golden/tools/alpaca_ids.json)."""
    return [{"idx": vote["context_id"]} | row for vote, row in zip(votes, alpaca_eval_without_ids(votes))]


def alpaca_eval_without_ids(votes: Rows) -> list[dict]:
    """As its human cross-annotations."""
    preference = {"A": 1, "B": 2, "tie": 1.5}
    return [
        {"instruction": "\n".join(vote["context"]), "dataset": "own", "annotator_index": vote["annotator"]}
        | {f"output_{n}": vote[f"output_{side}"] for n, side in ((1, "a"), (2, "b"))}
        | {f"generator_{n}": vote[f"system_{side}"] for n, side in ((1, "a"), (2, "b"))}
        | {"preference": preference[vote["choice"]]}
        for vote in votes
    ]


def trl(votes: Rows) -> list[dict]:
    """Which has no ties."""
    rows = []
    for vote in votes:
        won, lost = ("a", "b") if vote["choice"] == "A" else ("b", "a")
        assert vote["choice"] != "tie"
        names = {
            "chosen_model": vote[f"system_{won}"],
            "rejected_model": vote[f"system_{lost}"],
            "annotator": vote["annotator"],
        }
        texts = {"chosen": vote[f"output_{won}"], "rejected": vote[f"output_{lost}"]}
        rows.append({"prompt": "\n".join(vote["context"]), "prompt_id": vote["context_id"]} | names | texts)
    return rows


WITH_TIES: dict[str, Callable[[Rows], list[dict]]] = {
    "our own": plain,
    "Arena": arena,
    "MT-bench": mt_bench,
    "AlpacaEval": alpaca_eval,
}
WITHOUT_TIES = WITH_TIES | {"TRL": trl}
