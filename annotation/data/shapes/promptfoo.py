"""Results of promptfoo: a file of `promptfoo eval --output`, as JSON or as JSON lines."""

import json
from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import replace
from typing import Any

from annotation.data.shapes.shape import JUDGE_SCORES, OUTPUTS, SCORES, Entry, Fields, LeftOut, Shape, Surroundings
from annotation.data.shapes.values import number
from core.rows import BadField, Row

MARKS = ("gradingResult", "promptIdx", "testIdx", "testCase", "namedScores")
SEVERAL, AGAIN = "several prompts", "ran before"
OVERALL = "promptfoo"  # the judge whose score is that of all assertions together


def _is_result(fields: Fields) -> bool:
    return "provider" in fields and sum(mark in fields for mark in MARKS) >= 2


def _results(fields: Fields) -> Any:
    """Of version 3 and 4 at results.results, of earlier ones at results."""
    results = fields.get("results")
    return results.get("results") if isinstance(results, dict) else results


def _is_file(fields: Fields) -> bool:
    results = _results(fields)
    return isinstance(results, list) and bool(results) and isinstance(results[0], dict) and _is_result(results[0])


def _file(fields: Fields, around: Surroundings) -> Iterator[Entry | LeftOut]:
    results = _results(fields)
    if not all(isinstance(result, dict) for result in results):
        raise BadField("results", "expected a list of JSON objects")
    for result in _beside(results):
        yield from _result(result)


def _gathered(rows: Iterable[Row]) -> Iterator[Row]:
    rows = list(rows)
    for row, fields in zip(rows, _beside([row.fields for row in rows])):
        yield replace(row, fields=fields)


def _line(fields: Fields, around: Surroundings) -> Iterator[Entry | LeftOut]:
    yield from _result(fields)


def _beside(results: Sequence[Fields]) -> list[Fields]:
    """Each result with what only the others tell, under SEVERAL and AGAIN: whether its provider has several prompts, each of
    which is a system then, and how often the same test ran before, which makes it another sample."""
    prompts: dict[str, set[str]] = {}
    for result in results:
        prompts.setdefault(repr(result.get("provider")), set()).add(_prompt(result))
    seen: Counter[str] = Counter()
    told = []
    for result in results:
        provider = repr(result.get("provider"))
        place = repr((provider, _prompt(result), result.get("vars"), result.get("testCase"), result.get("prompt")))
        told.append(result | {SEVERAL: len(prompts[provider]) > 1, AGAIN: seen[place]})
        seen[place] += 1
    return told


def _provider(result: Fields) -> str:
    provider = result.get("provider")
    name = (provider.get("label") or provider.get("id")) if isinstance(provider, dict) else provider
    if not isinstance(name, str) or not name:
        raise BadField("provider", "expected a name, or an object with a label or an id")
    return name


def _prompt(result: Fields) -> str:
    """The template's label, which is its text where nobody gave it one."""
    prompt = result.get("prompt")
    label = prompt.get("label") if isinstance(prompt, dict) else None
    return label if isinstance(label, str) and label else f"prompt {result.get('promptIdx')}"


def _context(result: Fields) -> str:
    """The variables of the test, so that systems with different prompts meet; without any, the prompt; in a file that keeps
    neither, what the test is called, or its number."""
    case = result.get("testCase")
    values = result.get("vars") or (case.get("vars") if isinstance(case, dict) else None)
    if isinstance(values, dict) and values:
        texts = {name: _text(value) for name, value in values.items() if not name.startswith("_")}
        return next(iter(texts.values())) if len(texts) == 1 else "\n".join(f"{name}: {text}" for name, text in texts.items())
    prompt = result.get("prompt")
    raw = prompt.get("raw") if isinstance(prompt, dict) else prompt
    if isinstance(raw, str):
        return raw
    if isinstance(description := case.get("description") if isinstance(case, dict) else None, str) and description:
        return description
    if isinstance(number_of_test := result.get("testIdx"), int):
        return f"Test {number_of_test}"
    raise BadField("prompt", "expected an object with the text raw, variables in vars, or testIdx")


def _text(value: Any) -> str:
    return value if isinstance(value, str) else json.dumps(value, ensure_ascii=False)


def _result(result: Fields) -> Iterator[Entry | LeftOut]:
    system = f"{_provider(result)}, {_prompt(result)}" if result.get(SEVERAL) else _provider(result)
    known: Fields = {"context": _context(result), "system": system, "sample": result.get(AGAIN, 0)}
    response = result.get("response")
    output = response.get("output") if isinstance(response, dict) else response
    if output in (None, ""):
        yield LeftOut(OUTPUTS, "has no output; the provider gave none")
        yield LeftOut(JUDGE_SCORES, "is the score of no output; the provider gave none")
        return
    yield Entry(OUTPUTS, known | {"output": _text(output)})
    by_hand = [part for part in _parts(result) if _type(part) == "human"]
    for part in by_hand:
        yield Entry(SCORES, known | {"aspect": "Overall", "score": int(bool(part.get("pass"))), "scale": [0, 1]})
    named = result.get("namedScores")
    overall, passed = result.get("score"), result.get("success")
    scores = {} if by_hand else {OVERALL: int(passed) if overall is None and isinstance(passed, bool) else overall}
    if by_hand:
        yield LeftOut(JUDGE_SCORES, "has a person's mark in the place of the score")
    for judge, score in (scores | (named if isinstance(named, dict) else {})).items():
        if (value := number(score)) is None:
            yield LeftOut(JUDGE_SCORES, f"has no number for {judge}")
        else:
            yield Entry(JUDGE_SCORES, known | {"judge": judge, "score": value})


def _parts(result: Fields) -> list[Fields]:
    grading = result.get("gradingResult")
    parts = grading.get("componentResults") if isinstance(grading, dict) else None
    return [part for part in parts if isinstance(part, dict)] if isinstance(parts, list) else []


def _type(part: Fields) -> Any:
    assertion = part.get("assertion")
    return assertion.get("type") if isinstance(assertion, dict) else None


PROMPTFOO = Shape(
    name="promptfoo results",
    address="https://www.promptfoo.dev/docs/configuration/outputs/",
    kinds=(OUTPUTS, SCORES, JUDGE_SCORES),
    recognises=_is_file,
    entries=_file,
    guess="A provider is a system, and a test's variables are the context, or else its prompt, name or number. Marks given"
    " by hand are people's scores.",
)
PROMPTFOO_LINES = Shape(
    name="promptfoo results (JSONL)",
    address=PROMPTFOO.address,
    kinds=PROMPTFOO.kinds,
    recognises=_is_result,
    entries=_line,
    guess=PROMPTFOO.guess,
    gathers=_gathered,
)
