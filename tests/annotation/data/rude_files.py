"""One small good file of each shape in the registry, and any number of rude ones made of it, the same for the same number: two
tools in one file, cut off, odd numbers, repeated keys, marks in the middle, names from right to left, ids that look alike,
dates for points, columns by the thousand, zip in zip, quotes that never end."""

import copy
import csv
import gzip
import io
import json
import random
import zipfile
from collections.abc import Iterator
from contextlib import suppress
from typing import Any

ASK, SAY = {"role": "user", "content": "Tea?"}, {"role": "assistant", "content": "Gladly."}
TEXTS = {"prompt": "Tea?", "response_a": "Gladly.", "response_b": "No.", "model_a": "elm", "model_b": "fir"}
TALKS = {"conversation_a": [ASK, SAY], "conversation_b": [ASK, {"role": "assistant", "content": "No."}]}
SIDES = {"generator_1": "elm", "output_1": "Gladly.", "generator_2": "fir", "output_2": "No."}
SAMPLE = {
    "id": 1,
    "epoch": 1,
    "input": "Tea?",
    "target": "Gladly.",
    "output": {"model": "elm", "completion": "Gladly.", "choices": [{"message": SAY}]},
    "scores": {"match": {"value": "C", "answer": "Gladly."}, "model_graded": {"value": {"wit": 0.5, "care": 1}}},
}
LABEL_STUDIO = {
    "id": 7,
    "data": {"context": "Tea?", "system": "elm", "output": "Gladly."},
    "annotations": [
        {
            "completed_by": 3,
            "was_cancelled": False,
            "result": [{"from_name": "Overall", "type": "rating", "value": {"rating": 4}}],
        }
    ],
}
LABEL_STUDIO_PAIR = {
    "id": 8,
    "data": {"prompt": "Tea?", "model_a": "elm", "text1": "Gladly.", "model_b": "fir", "text2": "No."},
    "annotations": [
        {"completed_by": {"id": 3}, "result": [{"from_name": "pw", "type": "pairwise", "value": {"selected": "left"}}]}
    ],
}
# {shape: (kind of rows, a row, the field that tells the rows apart)}
ROWS: dict[str, tuple[str, dict[str, Any], str]] = {
    "Label Studio": ("outputs", LABEL_STUDIO, "id"),
    "conversations": ("outputs", {"conversation_id": "talk 1", "model": "elm", "turns": [ASK, SAY]}, "conversation_id"),
    "Label Studio, pairs": ("judgments", LABEL_STUDIO_PAIR, "id"),
    "Label Studio table": (
        "scores",
        {
            "id": 7,
            "annotation_id": 1,
            "annotator": "ann@example.org",
            "lead_time": 3.5,
            "context": "Tea?",
            "system": "elm",
            "output": "Gladly.",
            "Overall": [{"rating": 4}],
        },
        "id",
    ),
    "Potato": (
        "scores",
        {"instance_id": "i1", "user_id": "ann", "labels": {"Overall": {"scale_4": "true"}, "Wit": {"scale_2": "2"}}},
        "instance_id",
    ),
    "Potato, table": ("scores", {"instance_id": "i1", "user_id": "ann", "Overall:::4": "4", "Wit:::": ""}, "instance_id"),
    "Argilla": (
        "scores",
        {
            "id": "r1",
            "fields": {"prompt": "Tea?", "response": "Gladly.", "model": "elm"},
            "metadata": {"topic": "tea"},
            "suggestions": {"Overall": {"value": 4, "score": 0.9, "agent": "gpt"}},
            "responses": {"Overall": [{"value": 4, "user_id": "ann"}, {"value": 3, "user_id": "bea", "status": "draft"}]},
        },
        "id",
    ),
    "Argilla table": (
        "scores",
        {
            "id": "r1",
            "prompt": "Tea?",
            "response": "Gladly.",
            "model": "elm",
            "Overall.responses": [4, 3],
            "Overall.responses.users": ["ann", "bea"],
            "Overall.responses.status": ["submitted", "discarded"],
            "Overall.suggestion": 4,
            "Overall.suggestion.agent": "gpt",
        },
        "id",
    ),
    "Mechanical Turk": (
        "scores",
        {
            "HITId": "3X",
            "WorkerId": "A1",
            "AssignmentStatus": "Approved",
            "RejectionTime": "",
            "Input.prompt": "Tea?",
            "Input.system": "elm",
            "Input.output": "Gladly.",
            "Answer.Overall": "4",
        },
        "HITId",
    ),
    "compar:IA": (
        "judgments",
        {
            "conversation_pair_id": "p1",
            "model_a_name": "elm",
            "model_b_name": "fir",
            **TALKS,
            "chosen_model_name": "elm",
            "both_equal": False,
            "visitor_id": "v1",
        },
        "conversation_pair_id",
    ),
    "Arena": (
        "judgments",
        {"id": "v1", "model_a": "elm", "model_b": "fir", "winner": "both_bad", "evaluation_session_id": "s1", **TALKS},
        "id",
    ),
    "MT-bench": (
        "judgments",
        {"question_id": 81, "model_a": "elm", "model_b": "fir", "winner": "model_a", "judge": "ann", "turn": 1, **TALKS},
        "question_id",
    ),
    "Arena 55k": (
        "judgments",
        {
            "id": 65,
            "model_a": "elm",
            "model_b": "fir",
            "prompt": '["Tea?"]',
            "response_a": '["Gladly."]',
            "response_b": '["No."]',
            "winner_model_a": 1,
            "winner_model_b": 0,
            "winner_tie": 0,
        },
        "id",
    ),
    "AlpacaEval annotations": (
        "judgments",
        {"instruction": "Tea?", **SIDES, "annotator_index": 3, "preference": 1, "raw_completion": None},
        "instruction",
    ),
    "AlpacaEval outputs": (
        "outputs",
        {"dataset": "x", "instruction": "Tea?", "output": "Gladly.", "generator": "elm"},
        "instruction",
    ),
    "Arena-Hard": (
        "outputs",
        {
            "uid": "u1",
            "category": "x",
            "judge": "gpt",
            "model": "elm",
            "baseline": "fir",
            "games": [{"score": "A>>B"}, {"score": "A=B"}],
        },
        "uid",
    ),
    "Arena-Hard answers": (
        "outputs",
        {"uid": "u1", "model": "elm", "messages": [ASK, {"role": "assistant", "content": {"answer": "Gladly."}}]},
        "uid",
    ),
    "AutoArena": ("judgments", {**TEXTS, "judge": "Human", "winner": "A"}, "prompt"),
    "lm-eval": (
        "outputs",
        {
            "doc_id": 0,
            "doc": {"question": "Tea?"},
            "target": "Gladly.",
            "arguments": {"gen_args_0": {"arg_0": "Tea?", "arg_1": {"until": ["."]}}},
            "resps": [["Gladly."]],
            "filtered_resps": ["Gladly."],
            "metrics": ["exact_match"],
            "exact_match": 1.0,
            "doc_hash": "d1",
        },
        "doc_hash",
    ),
    "Inspect": ("outputs", {"eval": {"task": "tea", "model": "elm"}, "samples": [SAMPLE, SAMPLE | {"id": 2}]}, "version"),
    "Inspect sample": ("outputs", SAMPLE, "id"),
    "HELM": (
        "outputs",
        {
            "adapter_spec": {"model": "elm"},
            "request_states": [
                {
                    "instance": {"input": {"text": "Tea?"}, "id": "id1", "references": [{"output": {"text": "Gladly."}}]},
                    "result": {"completions": [{"text": "Gladly."}]},
                }
            ],
        },
        "name",
    ),
    "promptfoo": (
        "outputs",
        {
            "evalId": "e1",
            "results": {
                "version": 3,
                "results": [
                    {
                        "promptIdx": 0,
                        "testIdx": 0,
                        "provider": {"id": "elm", "label": ""},
                        "prompt": {"raw": "Say Tea?", "label": "Say {{q}}"},
                        "vars": {"q": "Tea?"},
                        "response": {"output": "Gladly."},
                        "score": 1,
                        "success": True,
                        "namedScores": {"tone": 0.5},
                        "gradingResult": {"pass": True, "componentResults": [{"pass": True, "assertion": {"type": "human"}}]},
                    }
                ],
            },
        },
        "name",
    ),
    "promptfoo, lines": (
        "outputs",
        {"promptIdx": 0, "testIdx": 0, "provider": "elm", "prompt": "Tea?", "response": {"output": "Gladly."}, "score": 0.5},
        "provider",
    ),
    "DeepEval": (
        "outputs",
        {
            "testRunData": {
                "hyperparameters": {"model": "elm"},
                "testCases": [
                    {
                        "name": "t0",
                        "input": "Tea?",
                        "actualOutput": "Gladly.",
                        "expectedOutput": "Yes.",
                        "success": True,
                        "metricsData": [{"name": "Tone", "score": 0.5, "success": True}],
                    }
                ],
            }
        },
        "name",
    ),
    "DeepEval, cases": (
        "outputs",
        {
            "name": "t0",
            "input": "Tea?",
            "actualOutput": "Gladly.",
            "expectedOutput": "Yes.",
            "metricsData": [{"name": "Tone", "score": 0.5, "success": True}],
        },
        "name",
    ),
    "batch of chats": (
        "outputs",
        {
            "id": "batch_1",
            "custom_id": "c1",
            "response": {"status_code": 200, "body": {"model": "elm", "choices": [{"index": 0, "message": SAY}]}},
            "error": None,
        },
        "custom_id",
    ),
    "MT-bench answers": (
        "outputs",
        {
            "question_id": 81,
            "model_id": "elm",
            "prompt": ["Tea?", "Milk?"],
            "choices": [{"index": 0, "turns": ["Gladly.", "No."]}],
        },
        "question_id",
    ),
    "TRL preference": (
        "judgments",
        {"prompt": "Tea?", "annotator": "ann", "chosen": "Gladly.", "rejected": [{"role": "assistant", "content": "No."}]},
        "prompt",
    ),
    "TRL unpaired": (
        "scores",
        {"prompt": "Tea?", "completion": "Gladly.", "label": True, "model": "elm", "annotator": "ann"},
        "prompt",
    ),
    "chat": ("outputs", {"context_id": "c1", "model": "elm", "messages": [ASK, SAY]}, "context_id"),
    "pairs": ("outputs", {"context_id": "c1", **TEXTS}, "context_id"),
    "MQM": (
        "spans",
        {
            "system": "elm",
            "doc": "d",
            "seg_id": 1,
            "rater": "ann",
            "source": "Tee?",
            "target": "<v>Tea</v>?",
            "category": "Fluency/Punctuation",
            "severity": "Minor",
        },
        "seg_id",
    ),
    "Appraise": (
        "scores",
        {"username": "ann", "systemID": "elm", "segmentID": 1, "itemType": "TGT", "score": 81, "documentID": "d"},
        "segmentID",
    ),
    "Qualtrics": (
        "scores",
        {"StartDate": "2026-11-26", "ResponseId": "R_1", "Status": "IP Address", "c1|elm|Wit": "4 - good", "c1|fir|Wit": "2"},
        "ResponseId",
    ),
    "wide sheet": ("scores", {"annotator": "ann", "c1__elm": 4, "c1__fir": "3", "c2__elm": None, "c2__fir": 1}, "annotator"),
    "Prolific": ("scores", {"Submission id": "s1", "Participant id": "p1", "Status": "APPROVED", "Age": 30}, "Submission id"),
    "lm-eval results": ("outputs", {"results": {"t": {"acc": 0.5}}, "configs": {"t": {}}, "versions": {"t": 1}}, "date"),
    "AlpacaEval leaderboard": (
        "judgments",
        {"": "elm", "win_rate": 50.0, "standard_error": 20.4, "mode": "community", "n_total": 4},
        "",
    ),
    "doccano": (
        "scores",
        {
            "id": 1,
            "text": "Gladly.",
            "context": "Tea?",
            "system": "elm",
            "label": ["Overall: 4", [0, 3, "odd"]],
            "Comments": [],
        },
        "id",
    ),
    "own outputs": ("outputs", {"context_id": "c1", "context": "Tea?", "system": "elm", "output": "Gladly."}, "context_id"),
    "own scores": (
        "scores",
        {
            "context_id": "c1",
            "context": "Tea?",
            "system": "elm",
            "output": "Gladly.",
            "aspect": "Overall",
            "annotator": "ann",
            "score": 4,
        },
        "context_id",
    ),
    "own judgments": ("judgments", {"context_id": "c1", **TEXTS, "annotator": "ann", "choice": "A"}, "context_id"),
}
NAMES = [
    "id",
    "1",
    1,
    1.0,
    True,
    None,
    "😀",
    "\u202eelm",
    "e\u0301lm",
    "élm",
    " elm ",
    "ELM",
    "e\u200blm",
    "",
    "x" * 201,
    "=1+1",
    "-",
    "NaN",
]
POINTS = ["2026-11-26", "5-Jan", 45000.25, "4,5", "1.000,5", "٣", "Ⅳ", "four", "4/5", "1e2", -4, 0, 10**9, 4.000001, "∞", "4 4"]
NUMBERS = ["NaN", "Infinity", "-Infinity", "1e400", "-0.0", "9" * 400, "9" * 5000, "01", "1e-400", "0x10", "1_0"]
PIECES = ["\ufeff", "\0", "\u2028", "\u202e", "\x1a", "\x0b", "\r", "\ud83d", "\U0001f600", "\u0301", "\x7f", "\u2066"]
WHOLE = [None, True, 0, -1, "", " ", [], {}, [[]], [{}], {"": None}, "null", [None, None], {"role": 1}, [1, [2, [3]]]]


def good(shape: str, count: int = 3) -> list[dict[str, Any]]:
    """Rows of it that differ in what tells them apart."""
    _, row, own = ROWS[shape]
    rows = []
    for n in range(count):
        one = copy.deepcopy(row)
        if isinstance(one.get(own), str):
            one[own] = f"{one[own]} {n}"
        elif own in one:
            one[own] += n
        rows.append(one)
    return rows


def rude(shape: str, number: int) -> tuple[str, bytes]:
    """(name, content)"""
    rng = random.Random(f"{shape} {number}")
    rows = good(shape, rng.randint(1, 4))
    for _ in range(rng.choice([0, 1, 1, 1, 2])):
        with suppress(IndexError, TypeError, KeyError, AttributeError):  # a way that does not fit what is left of the rows
            rows = rng.choice(IN_ROWS)(rng, shape, rows)
    name, content = rng.choice([as_lines, as_lines, as_array, as_table, as_table])(rng, rows)
    for _ in range(rng.choice([0, 1, 1, 2])):
        content = rng.choice(IN_BYTES)(rng, content)
    return rng.choice([plain] * 6 + [zipped, packed])(rng, name, content)


def places(value: Any) -> Iterator[tuple[Any, Any]]:
    """(list or object, its index or key) of every value"""
    for key, inner in list(value.items() if isinstance(value, dict) else enumerate(value) if isinstance(value, list) else ()):
        yield value, key
        yield from places(inner)


def put(rng: random.Random, rows: list, value: Any) -> list:
    holder, key = rng.choice(list(places(rows)))
    holder[key] = copy.deepcopy(value)
    return rows


def mixed(rng: random.Random, shape: str, rows: list) -> list:
    other = rng.choice(list(ROWS))
    rows = rows + good(other, rng.randint(1, 2)) if rng.random() < 0.8 else good(other, 1) + rows
    return rows


def merged(rng: random.Random, shape: str, rows: list) -> list:
    """A row that has the columns of two tools."""
    rows[-1] = rng.choice([rows[-1] | good(rng.choice(list(ROWS)), 1)[0], good(rng.choice(list(ROWS)), 1)[0] | rows[-1]])
    return rows


def without(rng: random.Random, shape: str, rows: list) -> list:
    holder, key = rng.choice(list(places(rows)))
    del holder[key]
    return rows


def exchanged(rng: random.Random, shape: str, rows: list) -> list:
    every = list(places(rows))
    (one, at), (other, where) = rng.choice(every), rng.choice(every)
    one[at] = copy.deepcopy(other[where])
    return rows


def turned(rng: random.Random, shape: str, rows: list) -> list:
    """A list where an object is, a text where a list is, a value in a list."""
    holder, key = rng.choice(list(places(rows)))
    value = holder[key]
    ways = [[value], {"value": value}, json.dumps(value), str(value)]
    if isinstance(value, dict):
        ways += [list(value.values()), list(value.items())]
    elif isinstance(value, list):
        ways += [dict(enumerate(value)), value[:-1], value * 2]
    holder[key] = rng.choice(ways)
    return rows


def repeated(rng: random.Random, shape: str, rows: list) -> list:
    """The same row again, and one like it that says something else."""
    return exchanged(rng, shape, [*rows, copy.deepcopy(rng.choice(rows))])


def deep(rng: random.Random, shape: str, rows: list) -> list:
    value: Any = "Tea?"
    for _ in range(rng.choice([5, 49, 51, 400])):
        value = rng.choice([[value], {"content": value}])
    return put(rng, rows, value) if rows else rows


def wide(rng: random.Random, shape: str, rows: list) -> list:
    for n in range(rng.choice([300, 10_000]) if rng.random() < 0.05 else 30):
        rows[0][f"column {n}"] = rng.choice(["", None, n])
    return rows


IN_ROWS = [
    mixed,
    mixed,
    merged,
    without,
    exchanged,
    turned,
    turned,
    repeated,
    deep,
    wide,
    lambda rng, shape, rows: put(rng, rows, rng.choice(NAMES)),
    lambda rng, shape, rows: put(rng, rows, rng.choice(POINTS)),
    lambda rng, shape, rows: put(rng, rows, rng.choice(WHOLE)),
    lambda rng, shape, rows: put(rng, rows, rng.choice(WHOLE)),
    lambda rng, shape, rows: put(rng, rows, "@number@"),
    lambda rng, shape, rows: put(rng, rows, "x" * 600_000 if rng.random() < 0.03 else "x" * 6000),
]


def written(rng: random.Random, value: Any) -> str:
    text = json.dumps(value, ensure_ascii=rng.random() < 0.5, default=str)
    return text.replace('"@number@"', rng.choice(NUMBERS))


def as_lines(rng: random.Random, rows: list) -> tuple[str, bytes]:
    return "rude.jsonl", "\n".join(written(rng, row) for row in rows).encode("utf-8", "surrogatepass")


def as_array(rng: random.Random, rows: list) -> tuple[str, bytes]:
    text = written(rng, rows if len(rows) != 1 or rng.random() < 0.5 else rows[0])
    return "rude.json", text.encode("utf-8", "surrogatepass")


def as_table(rng: random.Random, rows: list) -> tuple[str, bytes]:
    """As spreadsheets write it; lists and objects are JSON in a cell, or as Python prints them."""
    rows = [row if isinstance(row, dict) else {"row": row} for row in rows]
    header = list(dict.fromkeys(str(name) for row in rows for name in row))
    cell = rng.choice([json.dumps, str])
    out, mark = io.StringIO(), rng.choice(",;\t")
    table = csv.writer(out, delimiter=mark, lineterminator=rng.choice(["\r\n", "\n"]))
    table.writerow(header)
    for row in rows:
        named = {str(name): value for name, value in row.items()}
        said = [cell(v) if isinstance(v, list | dict) else "" if v is None else str(v) for v in map(named.get, header)]
        table.writerow([text.replace("@number@", rng.choice(NUMBERS)).replace("\0", "") for text in said])
    text = out.getvalue()
    lines = text.splitlines(keepends=True)
    way = rng.random()
    if way < 0.08:
        text = lines[0] + text  # the header twice
    elif way < 0.16:
        text = (
            lines[0].rstrip("\r\n")
            + mark * rng.choice([1, 3, 10_000 if rng.random() < 0.1 else 30])
            + "\n"
            + "".join(lines[1:])
        )
    elif way < 0.22:
        text = lines[0].rstrip("\r\n") + mark + lines[0] + "".join(lines[1:])  # each column twice
    elif way < 0.3:
        at = rng.randrange(len(text) + 1)
        text = text[:at] + rng.choice(['"', '""', '"""', "\\", mark, "\n"]) + text[at:]
    return ("rude.tsv" if mark == "\t" else "rude.csv"), text.encode("utf-8", "surrogatepass")


def cut(rng: random.Random, raw: bytes) -> bytes:
    return raw[: rng.randrange(len(raw) + 1)]


def pierced(rng: random.Random, raw: bytes) -> bytes:
    at = rng.randrange(len(raw) + 1)
    return raw[:at] + rng.choice(PIECES).encode("utf-8", "surrogatepass") + raw[at:]


def key_twice(rng: random.Random, raw: bytes) -> bytes:
    at = [n for n in range(len(raw)) if raw[n : n + 2] == b'{"']
    if not at:
        return raw
    start = rng.choice(at) + 1
    return raw[:start] + raw[start : raw.find(b":", start)] + b": 1, " + raw[start:]


def recoded(rng: random.Random, raw: bytes) -> bytes:
    text = raw.decode("utf-8", "replace")
    return text.encode(rng.choice(["utf-16", "utf-16-le", "utf-32", "latin-1", "cp1252", "utf-7"]), "replace")


def respelled(rng: random.Random, raw: bytes) -> bytes:
    old, new = rng.choice(
        [(b"\n", b"\r"), (b"\n", b"\n\n\n"), (b'"', b"'"), (b": ", b" : "), (b",", b",,"), (b"}", b"},"), (b"\n", b"\r\n")]
    )
    return raw.replace(old, new)


def doubled(rng: random.Random, raw: bytes) -> bytes:
    return raw + rng.choice([b"", b"\n", b"\xef\xbb\xbf", b"\x1a"]) + raw


IN_BYTES = [cut, pierced, pierced, key_twice, recoded, respelled, doubled]


def plain(rng: random.Random, name: str, content: bytes) -> tuple[str, bytes]:
    return name, content


def packed(rng: random.Random, name: str, content: bytes) -> tuple[str, bytes]:
    content = gzip.compress(content, 1)
    if rng.random() < 0.3:
        content = gzip.compress(content, 1)
    elif rng.random() < 0.3:
        content = content[: rng.randrange(len(content))]
    return f"{name}.gz", content


def zipped(rng: random.Random, name: str, content: bytes) -> tuple[str, bytes]:
    members = {name: content}
    others = list(ROWS)
    for _ in range(rng.randint(0, 2)):
        other = rng.choice(others)
        members[
            f"{rng.choice(['', 'elm/', 'samples/', 'annotation_output/ann/'])}{rng.choice(['a', 'header', 'state'])}.jsonl"
        ] = as_lines(rng, good(other))[1]
    if rng.random() < 0.3:
        members["inner.zip"] = archive(members)
    if rng.random() < 0.2:
        members["annotation_output/ann/annotated_instances.jsonl"] = content
    whole = archive(members)
    return rng.choice(["rude.zip", "rude.zip", "rude.eval"]), cut(rng, whole) if rng.random() < 0.1 else whole


def archive(members: dict[str, bytes]) -> bytes:
    out = io.BytesIO()
    with zipfile.ZipFile(out, "w") as packing:
        for name, content in members.items():
            packing.writestr(name, content)
    return out.getvalue()
