"""For every shape, rows whose content is known: one answer (or output) about context n each, and rows that hold one which is
left out. What an import has to say of any mixture of them follows by counting."""

from collections.abc import Callable
from dataclasses import dataclass, field

CONTEXTS = 5
KINDS = ("outputs", "scores", "judgments", "judge_scores", "judge_pairs")


@dataclass(frozen=True)
class Tool:
    """kind: of what is counted. full: the row about context n; empty: one that holds an answer which is left out, where
    there is such a row. how: what is said beside the file. once: a row that comes twice is no repetition, but more of it.
    beside: how many that nobody judges come with what is counted."""

    kind: str
    full: Callable[[int], dict]
    empty: Callable[[int], dict] | None = None
    how: dict = field(default_factory=dict)
    once: bool = False
    beside: int = 0


def outputs() -> list[dict]:
    """What the campaign has before: two systems on CONTEXTS contexts."""
    return [
        {"context_id": f"c{n}", "context": f"Q{n}", "system": system, "output": f"{system} {n}"}
        for n in range(CONTEXTS)
        for system in ("alpha", "beta")
    ]


def about(n: int) -> dict:
    return {"context_id": f"c{n}", "system": "alpha"}


def chat(n: int, system: str) -> list[dict]:
    return [{"role": "user", "content": f"Q{n}"}, {"role": "assistant", "content": f"{system} {n}"}]


def talk(n: int, *turns: dict) -> dict:
    return {"conversation_id": f"talk {n}", "model": "alpha", "turns": list(turns)}


def sides(n: int, a: str = "model_a", b: str = "model_b") -> dict:
    return {a: "alpha", b: "beta", "conversation_a": chat(n, "alpha"), "conversation_b": chat(n, "beta")}


def label_studio(n: int, **more) -> dict:
    result = [{"from_name": "Quality", "type": "rating", "value": {"rating": 4}}]
    annotation = {"completed_by": 1, "result": result} | more
    return {"id": n, "data": about(n) | {"text": f"alpha {n}"}, "annotations": [annotation]}


def label_studio_table(n: int, rating) -> dict:
    beside = {"annotation_id": n, "annotator": "p@example.org", "lead_time": 1.5, "id": n}
    return about(n) | {"text": f"alpha {n}", "Quality": [{"rating": rating}]} | beside


def argilla(n: int, status: str = "submitted") -> dict:
    responses = {"Quality": [{"value": 4, "user_id": "u1", "status": status}]}
    return {"id": f"r{n}", "fields": about(n) | {"response": f"alpha {n}"}, "responses": responses}


def argilla_table(n: int, status: str = "submitted") -> dict:
    said = {"Quality.responses": [4], "Quality.responses.users": ["u1"], "Quality.responses.status": [status]}
    return about(n) | {"response": f"alpha {n}"} | said


def survey(n: int, **more) -> dict:
    """A person who scored context n and nothing else."""
    cells: dict = {f"c{m}__{s}__Quality": None for m in range(CONTEXTS) for s in ("alpha", "beta")}
    return (
        {"StartDate": "2026-01-01", "ResponseId": f"R{n}", "Status": "IP Address"} | cells | {f"c{n}__alpha__Quality": 4} | more
    )


def wide(n: int) -> dict:
    return {name: value for name, value in survey(n).items() if "__" in name} | {"annotator": f"p{n}"}


def alpaca(n: int, preference) -> dict:
    texts = {"instruction": f"Q{n}", "output_1": f"alpha {n}", "output_2": f"beta {n}"}
    return texts | {"generator_1": "alpha", "generator_2": "beta", "annotator": "gpt", "preference": preference}


def arena_55k(n: int, won: int) -> dict:
    texts = {"prompt": f'["Q{n}"]', "response_a": f'["alpha {n}"]', "response_b": f'["beta {n}"]'}
    winners = {"winner_model_a": won, "winner_model_b": 0, "winner_tie": 0}
    return {"id": f"c{n}", "model_a": "alpha", "model_b": "beta"} | texts | winners


def comparia(n: int, chosen) -> dict:
    names = {"conversation_pair_id": f"c{n}", "visitor_id": "v", "chosen_model_name": chosen, "both_equal": False}
    return sides(n, "model_a_name", "model_b_name") | names


def lm_eval(n: int, score) -> dict:
    said = {"metrics": ["exact_match"], "exact_match": score, "doc_hash": f"c{n}"}
    return {"doc_id": n, "doc": {}, "arguments": [[f"Q{n}", {}]], "resps": [[f"alpha {n}"]], "target": "T"} | said


def inspect_sample(n: int, value) -> dict:
    output = {"model": "alpha", "completion": f"alpha {n}"}
    return {"id": f"c{n}", "epoch": 1, "input": f"Q{n}", "output": output, "scores": {"match": {"value": value}}}


def helm(n: int, text) -> dict:
    instance = {"id": f"c{n}", "input": {"text": f"Q{n}"}, "references": []}
    state = {"instance": instance, "result": {"completions": [] if text is None else [{"text": text}]}}
    return {"adapter_spec": {"model": "alpha"}, "request_states": [state]}


def promptfoo(n: int, score) -> dict:
    about = {"promptIdx": 0, "testIdx": n, "provider": {"id": "alpha"}, "vars": {"q": f"Q{n}"}}
    return about | {"response": {"output": f"alpha {n}"}, "score": score}


def deepeval(n: int, score) -> dict:
    case = {"name": f"t{n}", "input": f"Q{n}", "actualOutput": f"alpha {n}", "metricsData": [{"name": "Tone", "score": score}]}
    return {"hyperparameters": {"model": "alpha"}, "testCases": [case]}


def mqm(n: int) -> dict:
    texts = {"source": f"Q{n}", "target": f"alpha <v>{n}</v>"}
    return {"system": "alpha", "rater": "r1", "seg_id": f"c{n}", "category": "Style", "severity": "Minor"} | texts


def appraise(n: int, kind: str) -> dict:
    return {"username": "u1", "systemID": "alpha", "segmentID": f"c{n}", "itemType": kind, "score": "70", "mqm": "[]"}


def potato(n: int, labels: dict) -> dict:
    return {"instance_id": f"c{n}", "user_id": "ann", "label_annotations": {"Quality": labels}}


def autoarena(n: int, winner: str) -> dict:
    texts = {"prompt": f"Q{n}", "response_a": f"alpha {n}", "response_b": f"beta {n}"}
    return texts | {"model_a": "alpha", "model_b": "beta", "judge": "Human", "winner": winner}


def mturk(n: int, said: str) -> dict:
    shown = {"Input.context_id": f"c{n}", "Input.system": "alpha"}
    return {"WorkerId": "W1", "AssignmentStatus": "Approved"} | shown | {"Answer.Quality": said}


def doccano(n: int, labels: list) -> dict:
    return about(n) | {"id": n, "text": f"alpha {n}", "label": labels, "Comments": []}


def arena_hard(n: int, games: list) -> dict:
    return {"uid": f"c{n}", "judge": "j", "model": "alpha", "baseline": "beta", "games": games}


def batch(n: int, said: str | None) -> dict:
    message = {"index": 0, "message": {"role": "assistant", "content": said}}
    body = {"model": "new", "choices": [message]}
    return {"id": f"b{n}", "custom_id": f"c{n}", "response": {"status_code": 200 if said else 500, "body": body}, "error": None}


SCALE = {"constants": {"scale": "1-5"}}
ANN = {"constants": {"annotator": "ann"}}
ONE = {"constants": {"system": "alpha"}}
TOOLS: dict[str, Tool] = {
    "conversations": Tool("outputs", lambda n: talk(n, *chat(n, "alpha")), lambda n: talk(n, chat(n, "alpha")[0]), beside=1),
    "Label Studio": Tool("scores", label_studio, lambda n: label_studio(n, was_cancelled=True)),
    "Label Studio table": Tool("scores", lambda n: label_studio_table(n, 4), lambda n: label_studio_table(n, None)),
    "Potato": Tool("scores", lambda n: potato(n, {"scale_4": "4"}), lambda n: potato(n, {}), ONE),
    "Argilla": Tool("scores", argilla, lambda n: argilla(n, "draft")),
    "Argilla table": Tool("scores", argilla_table, lambda n: argilla_table(n, "discarded")),
    "Mechanical Turk results": Tool("scores", lambda n: mturk(n, "4"), lambda n: mturk(n, "")),
    "Qualtrics responses": Tool("scores", survey, lambda n: survey(n, Status="Survey Preview")),
    "doccano": Tool("scores", lambda n: doccano(n, ["Quality: 4"]), lambda n: doccano(n, [[0, 2, "bad"]]), ANN),
    "MQM errors": Tool("spans", mqm, once=True),
    "Appraise scores": Tool("scores", lambda n: appraise(n, "TGT"), lambda n: appraise(n, "BAD")),
    "compar:IA": Tool("judgments", lambda n: comparia(n, "alpha"), lambda n: comparia(n, None)),
    "Arena": Tool(
        "judgments",
        lambda n: {"id": f"c{n}", "winner": "both_bad", "user": "u"} | sides(n),
        lambda n: {"id": f"c{n}", "winner": None, "user": "u"} | sides(n),
    ),
    "Arena 55k": Tool("judgments", lambda n: arena_55k(n, 1), lambda n: arena_55k(n, 0)),
    "AlpacaEval annotations": Tool("judge_pairs", lambda n: alpaca(n, 1.25), lambda n: alpaca(n, None)),
    "AlpacaEval outputs": Tool("outputs", lambda n: {"instruction": f"Q{n}", "generator": "new", "output": f"new {n}"}),
    "Arena-Hard judgments": Tool("judge_pairs", lambda n: arena_hard(n, [{"score": "A>B"}]), lambda n: arena_hard(n, [])),
    "Arena-Hard answers": Tool("outputs", lambda n: {"uid": f"c{n}", "model": "new", "messages": chat(n, "new")}),
    "AutoArena": Tool("judgments", lambda n: autoarena(n, "A"), lambda n: autoarena(n, "")),
    "lm-evaluation-harness samples": Tool("judge_scores", lambda n: lm_eval(n, 1.0), lambda n: lm_eval(n, None), ONE),
    "Inspect log": Tool(
        "judge_scores",
        lambda n: {"eval": {"model": "alpha"}, "samples": [inspect_sample(n, "C")]},
        lambda n: {"eval": {"model": "alpha"}, "samples": [inspect_sample(n, "?")]},
    ),
    "Inspect log (.eval)": Tool("judge_scores", lambda n: inspect_sample(n, 0.5), lambda n: inspect_sample(n, "?")),
    "HELM scenario state": Tool("outputs", lambda n: helm(n, f"alpha {n}"), lambda n: helm(n, None)),
    "promptfoo results": Tool(
        "judge_scores",
        lambda n: {"results": {"results": [promptfoo(n, 0.5)]}},
        lambda n: {"results": {"results": [promptfoo(n, None)]}},
    ),
    "promptfoo results (JSONL)": Tool("judge_scores", lambda n: promptfoo(n, 0.5), lambda n: promptfoo(n, None), once=True),
    "DeepEval test run": Tool("judge_scores", lambda n: deepeval(n, 0.5), lambda n: deepeval(n, None)),
    "DeepEval test cases": Tool(
        "judge_scores",
        lambda n: deepeval(n, 0.5)["testCases"][0],
        lambda n: deepeval(n, None)["testCases"][0],
        how={"constants": {"system": "alpha"}},
    ),
    "batch of chats": Tool("outputs", lambda n: batch(n, f"new {n}"), lambda n: batch(n, None)),
    "MT-bench answers": Tool(
        "outputs", lambda n: {"question_id": f"c{n}", "model_id": "new", "choices": [{"index": 0, "turns": [f"new {n}"]}]}
    ),
    "TRL preference": Tool(
        "judgments",
        lambda n: (
            {"prompt": f"Q{n}", "chosen": f"alpha {n}", "rejected": f"beta {n}"}
            | {"chosen_model": "alpha", "rejected_model": "beta", "annotator": "ann"}
        ),
    ),
    "TRL unpaired preference": Tool(
        "scores",
        lambda n: about(n) | {"prompt": f"Q{n}", "completion": f"alpha {n}", "label": True, "annotator": "ann"},
        lambda n: about(n) | {"prompt": f"Q{n}", "completion": f"alpha {n}", "label": "", "annotator": "ann"},
    ),
    "chat that ends with the answer": Tool(
        "outputs", lambda n: {"messages": chat(n, "new")}, how={"constants": {"system": "new"}}
    ),
    "a sheet with a column for each output": Tool("scores", wide),
}
