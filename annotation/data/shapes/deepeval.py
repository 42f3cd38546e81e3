"""A test run of DeepEval, as it is kept in `.deepeval/.latest_test_run.json` or in a folder of results."""

from collections import Counter
from collections.abc import Iterator

from annotation.data.shapes.shape import JUDGE_SCORES, OUTPUTS, Entry, Fields, LeftOut, Shape, Surroundings
from annotation.data.shapes.values import number
from core.rows import BadField


def _run(fields: Fields) -> Fields:
    """The file beside a project's tests has the run inside of testRunData."""
    inner = fields.get("testRunData")
    return inner if isinstance(inner, dict) else fields


def _is_run(fields: Fields) -> bool:
    run = _run(fields)
    cases, chats = run.get("testCases"), run.get("conversationalTestCases")
    first = next((case for some in (cases, chats) if isinstance(some, list) for case in some), None)
    return isinstance(first, dict) and bool({"metricsData", "success"} & first.keys())


def _entries(fields: Fields, around: Surroundings) -> Iterator[Entry | LeftOut]:
    run = _run(fields)
    settings = run.get("hyperparameters")
    model = settings.get("model") if isinstance(settings, dict) else None
    system: Fields = {"system": model} if isinstance(model, str) and model else {}
    cases = run.get("testCases") or []
    if not isinstance(cases, list) or not all(isinstance(case, dict) for case in cases):
        raise BadField("testCases", "expected a list of JSON objects")
    asked: Counter[str] = Counter()  # a case that stands there again is another sample
    for case in cases:
        yield from _case(case, system | {"sample": asked[str(case.get("input"))]})
        asked[str(case.get("input"))] += 1
    for _ in run.get("conversationalTestCases") or []:
        yield LeftOut(OUTPUTS, "is a whole conversation, which no single output is scored in")


def _case(case: Fields, system: Fields) -> Iterator[Entry | LeftOut]:
    known: Fields = system | {"context": case.get("input")}
    output, expected = case.get("actualOutput"), case.get("expectedOutput")
    if not isinstance(output, str) or not output.strip():
        yield LeftOut(OUTPUTS, "has no actualOutput")
        for metric in case.get("metricsData") or []:
            yield LeftOut(JUDGE_SCORES, f"is what {metric.get('name')} said of no actualOutput")
        return
    references = {"references": [expected]} if isinstance(expected, str) and expected.strip() else {}
    yield Entry(OUTPUTS, known | {"output": output} | references)
    metrics = case.get("metricsData") or []
    if not metrics and isinstance(case.get("success"), bool):
        yield Entry(JUDGE_SCORES, known | {"judge": "success", "score": int(case["success"])})
    if not isinstance(metrics, list) or not all(isinstance(metric, dict) for metric in metrics):
        raise BadField("metricsData", "expected a list of JSON objects")
    for metric in metrics:
        name, score = metric.get("name"), metric.get("score")
        value = number(score)
        if value is None or metric.get("error"):
            yield LeftOut(JUDGE_SCORES, f"has no number for {name}")
        else:
            yield Entry(JUDGE_SCORES, known | {"judge": name, "score": value})


DEEPEVAL = Shape(
    name="DeepEval test run",
    address="https://deepeval.com/docs/evaluation-flags-and-configs",
    kinds=(OUTPUTS, JUDGE_SCORES),
    recognises=_is_run,
    entries=_entries,
    guess="The expected output is a reference, and each metric a judge. The system is the hyperparameter model, if given.",
)
DEEPEVAL_CASES = Shape(
    name="DeepEval test cases",
    address=DEEPEVAL.address,
    kinds=(OUTPUTS, JUDGE_SCORES),
    recognises=lambda fields: {"input", "actualOutput"} <= fields.keys(),
    entries=lambda fields, around: _case(fields, {}),
    guess="The expected output is a reference, and each metric a judge.",
)
