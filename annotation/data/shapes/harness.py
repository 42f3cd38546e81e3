"""Logs of evaluation harnesses: lm-evaluation-harness, Inspect, HELM. They hold outputs and what scorers said of them."""

from collections.abc import Iterator
from pathlib import PurePosixPath
from typing import Any

from annotation.data.shapes.shape import JUDGE_SCORES, OUTPUTS, Entry, Fields, LeftOut, Shape, Surroundings, nothing
from annotation.data.shapes.values import content, messages, number
from core.rows import BadField

NO_TEXT = "is no text; the task compares log-likelihoods of given answers"
INSPECT_VALUES = {"C": 1.0, "P": 0.5, "I": 0.0, "N": 0.0}  # correct, partially correct, incorrect, no answer


def _is_lm_eval(fields: Fields) -> bool:
    return "doc_id" in fields and bool({"resps", "filtered_resps"} & fields.keys())


def _lm_eval(fields: Fields, around: Surroundings) -> Iterator[Entry | LeftOut]:
    """A document's outputs share the hash of the document, so that models meet. The model is the folder's name. A document
    stands once for each filter of its task: the outputs are the same ones, and the metrics those of what the filter left."""
    key = fields.get("doc_hash") or fields["doc_id"]
    known: Fields = {"context_id": key if isinstance(key, str) else str(key)}
    is_asked_for_text = True
    if "arguments" in fields:  # which some people cut off
        known["context"], is_asked_for_text = _request(fields["arguments"])
    folder = PurePosixPath(around.file).parent.name
    if folder and not folder.endswith(".zip"):
        known["system"] = folder
    said = _responses(fields["resps"] if "resps" in fields else fields["filtered_resps"]) if is_asked_for_text else []
    target = fields.get("target")
    references = {"references": [target]} if isinstance(target, str) and target else {}
    for sample, text in enumerate(said):
        yield Entry(OUTPUTS, known | references | {"output": text, "sample": sample})
    if not said:
        yield LeftOut(OUTPUTS, NO_TEXT)
    of = "" if fields.get("filter") in (None, "", "none") else f",{fields['filter']}"  # none takes the first of several
    about = NO_TEXT if not said else "is of several outputs together" if of and len(said) > 1 else ""
    for metric in fields.get("metrics") or []:
        score = number(fields.get(metric))
        if score is None or about:
            yield LeftOut(JUDGE_SCORES, about or f"has no number for {metric}")
        else:
            best = {"best": "low"} if str(metric) in LOWEST_IS_BEST else {}
            yield Entry(JUDGE_SCORES, known | {"judge": f"{metric}{of}", "score": score} | best)


def _request(arguments: Any) -> tuple[str, bool]:
    """(the prompt, was it for a text, and not for the likelihood of one?)"""
    first = next(iter(arguments.values()), None) if isinstance(arguments, dict) else next(iter(arguments or []), None)
    given = [first.get("arg_0"), first.get("arg_1")] if isinstance(first, dict) else first
    if not isinstance(given, list) or not given or not isinstance(given[0], str):
        raise BadField("arguments", "holds no prompt in gen_args_0.arg_0")
    return given[0], len(given) > 1 and isinstance(given[1], dict)


def _responses(responses: Any) -> list[str]:
    """Of one request, which may have been sent several times"""
    first = responses[0] if isinstance(responses, list) and responses else None
    texts: list[Any] = first if isinstance(first, list) else [first]
    return texts if all(isinstance(text, str) for text in texts) else []


# By lm_eval.api.metrics of 0.4, which registers each metric with higher_is_better.
LOWEST_IS_BEST = {"perplexity", "word_perplexity", "byte_perplexity", "bits_per_byte", "brier_score", "ter"}


def _is_inspect(fields: Fields) -> bool:
    return isinstance(fields.get("eval"), dict) and isinstance(fields.get("samples"), list)


def _inspect(fields: Fields, around: Surroundings) -> Iterator[Entry | LeftOut]:
    for sample in fields["samples"]:
        if not isinstance(sample, dict):
            raise BadField("samples", "expected a list of JSON objects")
        yield from _sample(sample, fields["eval"].get("model"))


def _is_inspect_sample(fields: Fields) -> bool:
    return {"id", "epoch", "input", "output"} <= fields.keys() and isinstance(fields["output"], dict)


def _inspect_sample(fields: Fields, around: Surroundings) -> Iterator[Entry | LeftOut]:
    """Of an .eval archive, whose header names the model."""
    header = around.items.get("header", {}).get("eval")
    yield from _sample(fields, header.get("model") if isinstance(header, dict) else fields["output"].get("model"))


def _sample(sample: Fields, model: Any) -> Iterator[Entry | LeftOut]:
    asked, output = sample.get("input"), sample.get("output")
    if isinstance(asked, list):
        asked = [{"role": turn["role"], "content": content(turn, "input")} for turn in messages(asked, "input")]
    output = output if isinstance(output, dict) else {}
    text = output.get("completion")
    if not isinstance(text, str):
        choices = output.get("choices")
        first = choices[0] if isinstance(choices, list) and choices and isinstance(choices[0], dict) else {}
        text = content(first["message"], "output") if isinstance(first.get("message"), dict) else None
    epoch = sample.get("epoch", 1)
    known: Fields = {"context_id": str(sample.get("id")), "context": asked, "system": model}
    known["sample"] = epoch - 1 if isinstance(epoch, int) and epoch > 0 else 0
    scores = sample.get("scores")
    scores = scores if isinstance(scores, dict) else {}
    if text is None or (not text and (sample.get("error") or output.get("choices") == [])):
        yield LeftOut(OUTPUTS, "has no completion")
        for scorer in scores:
            yield LeftOut(JUDGE_SCORES, f"is what {scorer} said of a sample without a completion")
        return
    target = sample.get("target")
    references = [t for t in (target if isinstance(target, list) else [target]) if isinstance(t, str) and t]
    yield Entry(OUTPUTS, known | {"output": text} | ({"references": references} if references else {}))
    for scorer, score in scores.items():
        yield from _scores(known, scorer, score.get("value") if isinstance(score, dict) else score)


def _scores(known: Fields, scorer: str, value: Any) -> Iterator[Entry | LeftOut]:
    if isinstance(value, dict):
        for part, inner in value.items():
            yield from _scores(known, f"{scorer}/{part}", inner)
        return
    said = INSPECT_VALUES.get(value) if isinstance(value, str) and value in INSPECT_VALUES else number(value)
    said = int(value) if isinstance(value, bool) else said
    if said is None:
        yield LeftOut(JUDGE_SCORES, f"has no number of the scorer {scorer}")
    else:
        yield Entry(JUDGE_SCORES, known | {"judge": scorer, "score": said})


def _is_helm(fields: Fields) -> bool:
    return isinstance(fields.get("request_states"), list) and isinstance(fields.get("adapter_spec"), dict)


def _helm(fields: Fields, around: Surroundings) -> Iterator[Entry | LeftOut]:
    """Of a scenario_state.json."""
    model = fields["adapter_spec"].get("model")
    for state in fields["request_states"]:
        instance = state.get("instance") if isinstance(state, dict) else None
        asked = instance.get("input") if isinstance(instance, dict) else None
        if not isinstance(instance, dict) or not isinstance(asked, dict):
            raise BadField("request_states", "expected a list of objects with an instance and its input")
        result = state.get("result")
        completions = result.get("completions") if isinstance(result, dict) else None
        text = completions[0].get("text") if isinstance(completions, list) and completions else None
        if not isinstance(text, str):
            yield LeftOut(OUTPUTS, "has no completion")
            continue
        known: Fields = {"context_id": instance.get("id"), "context": asked.get("text"), "system": model, "output": text}
        given = [r.get("output", {}).get("text") for r in instance.get("references") or [] if isinstance(r, dict)]
        references = [reference for reference in given if isinstance(reference, str) and reference]
        yield Entry(OUTPUTS, known | ({"references": references} if references else {}))


LM_EVAL = Shape(
    name="lm-evaluation-harness samples",
    address="https://github.com/EleutherAI/lm-evaluation-harness/blob/main/docs/interface.md",
    kinds=(OUTPUTS, JUDGE_SCORES),
    recognises=_is_lm_eval,
    entries=_lm_eval,
    guess="The target is a reference. The model is the name of the folder, where there is one. Outputs are what the model "
    "said, before filters; a metric of what a filter left of them has its name, as exact_match,strict-match. The lowest is the "
    f"best of its metrics {', '.join(sorted(LOWEST_IS_BEST))}.",
)
LM_EVAL_RESULTS = Shape(
    name="lm-evaluation-harness results",
    address=LM_EVAL.address,
    kinds=(),
    recognises=lambda fields: {"results", "configs", "versions"} <= fields.keys(),
    entries=nothing,
    guess="It holds means alone; what the model said is in samples_*.jsonl, which --log_samples writes.",
)
INSPECT = Shape(
    name="Inspect log",
    address="https://inspect.aisi.org.uk/eval-logs.html",
    kinds=(OUTPUTS, JUDGE_SCORES),
    recognises=_is_inspect,
    entries=_inspect,
    guess="The target is a reference. Scorers' values C, P, I and N are 1, 0.5, 0 and 0; each scorer is a judge.",
)
INSPECT_SAMPLE = Shape(
    name="Inspect log (.eval)",
    address="https://inspect.aisi.org.uk/eval-logs.html",
    kinds=(OUTPUTS, JUDGE_SCORES),
    recognises=_is_inspect_sample,
    entries=_inspect_sample,
    guess=INSPECT.guess,
)
HELM = Shape(
    name="HELM scenario state",
    address="https://crfm-helm.readthedocs.io/en/latest/",
    kinds=(OUTPUTS,),
    recognises=_is_helm,
    entries=_helm,
    guess="An instance's references are references.",
)
