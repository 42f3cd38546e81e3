"""Chats that end with the answer (OpenAI's fine-tuning format), MT-bench's model answers, and preference data of TRL."""

from collections.abc import Iterator
from typing import Any

from annotation.data.fields import guess
from annotation.data.shapes.pairs import outputs_of
from annotation.data.shapes.shape import JUDGMENTS, OUTPUTS, SCORES, Entry, Fields, LeftOut, Shape, Surroundings
from annotation.data.shapes.values import answered, content, messages, transcript
from core.rows import BadField, kind_of

BOOLEANS = {True: 1, False: 0, "true": 1, "false": 0, "True": 1, "False": 0, "TRUE": 1, "FALSE": 0, "1": 1, "0": 0}


def _is_chat(fields: Fields) -> bool:
    chat = fields.get("messages")
    ends = isinstance(chat, list) and bool(chat) and isinstance(chat[-1], dict) and chat[-1].get("role") == "assistant"
    return ends and "output" not in guess("outputs", list(fields))


def _chat(fields: Fields, around: Surroundings) -> Iterator[Entry]:
    context, output = answered(messages(fields["messages"], "messages"), "messages")
    others = {name: value for name, value in fields.items() if name != "messages"}
    yield Entry(OUTPUTS, others | {"context": context, "output": output})


def _is_choices(fields: Fields) -> bool:
    choices = fields.get("choices")
    return {"question_id", "model_id"} <= fields.keys() and isinstance(choices, list)


def _choices(fields: Fields, around: Surroundings) -> Iterator[Entry]:
    """MT-bench's model answers: {question_id, model_id, choices: [{index, turns}]}, without the questions' texts."""
    for number, choice in enumerate(fields["choices"]):
        turns = choice.get("turns") if isinstance(choice, dict) else None
        if not isinstance(turns, list) or not turns or not all(isinstance(turn, str) for turn in turns):
            raise BadField("choices", "expected a list of {index, turns}")
        for at, text in enumerate(turns, start=1):
            key = str(fields["question_id"]) if at == 1 else f"{fields['question_id']}, turn {at}"
            row: Fields = {"context_id": key, "system": fields["model_id"], "output": text, "sample": number}
            if (asked := fields.get("prompt", fields.get("question"))) is not None:
                row["context"] = asked[:at] if isinstance(asked, list) else asked
            yield Entry(OUTPUTS, row)


def _is_batch(fields: Fields) -> bool:
    return {"custom_id", "response"} <= fields.keys() and isinstance(fields["response"], dict | None)


def _batch(fields: Fields, around: Surroundings) -> Iterator[Entry | LeftOut]:
    """What OpenAI's batches and those of servers like it give back: an answer of chat/completions or of responses."""
    response = fields["response"] or {}
    body, status = response.get("body"), response.get("status_code", 200)
    if status != 200 or not isinstance(body, dict):
        yield LeftOut(OUTPUTS, f"has no answer (status {status})" if status != 200 else "has no answer")
        return
    choices = body.get("choices")
    said = [choice.get("message") for choice in choices] if isinstance(choices, list) else [_response(body)]
    for number, message in enumerate(said):
        text = content(message, "response") if isinstance(message, dict) else None
        if text is None:
            yield LeftOut(OUTPUTS, "has no text")
        else:
            system = {"system": body["model"]} if body.get("model") else {}
            yield Entry(OUTPUTS, {"context_id": fields["custom_id"], "output": text, "sample": number} | system)


def _response(body: Fields) -> Fields | None:
    """The message of a body {output: [{type: message, content: [{type: output_text, text}]}]}, among reasoning and calls."""
    parts = [part for item in body.get("output") or [] if item.get("type") == "message" for part in item.get("content") or []]
    texts = [part.get("text") for part in parts if part.get("type") == "output_text"]
    return {"content": "\n".join(texts)} if texts else None


def _is_preference(fields: Fields) -> bool:
    return {"chosen", "rejected"} <= fields.keys()


def _preference(fields: Fields, around: Surroundings) -> Iterator[Entry]:
    """The prompt may stand in both chats instead of a field of its own. chosen_model and rejected_model name the systems."""
    prompt = fields.get("prompt")
    (before, chosen), (other, rejected) = (_side(prompt, fields[name], name) for name in ("chosen", "rejected"))
    if before != other:
        raise BadField("rejected", "answers another prompt than chosen")
    if before in (None, []):
        raise BadField("prompt", "is missing; it must be given, or stand at the beginning of chosen and rejected")
    sides: Fields = {"context": before, "output_a": chosen, "output_b": rejected}
    for side, name in (("a", "chosen"), ("b", "rejected")):
        sides[f"system_{side}"] = next((fields[n] for n in (f"{name}_model", f"{name}-model") if fields.get(n)), name)
    if (key := fields.get("prompt_id", fields.get("context_id"))) is not None:
        sides["context_id"] = key
    for output in outputs_of(sides):
        yield Entry(OUTPUTS, output)
    annotator = {"annotator": fields["annotator"]} if fields.get("annotator") else {}
    yield Entry(JUDGMENTS, annotator | sides | {"choice": "A"})


def _side(prompt: Any, said: Any, name: str) -> tuple[Any, str]:
    """(what is answered, the answer)"""
    if isinstance(said, str) and prompt is None and (chat := transcript(said)):
        return answered(chat, name)
    if isinstance(said, str):
        if isinstance(prompt, list):
            prompt = [{"role": turn["role"], "content": content(turn, "prompt")} for turn in messages(prompt, "prompt")]
        return prompt, said
    chat = messages(said, name)
    if not chat:
        raise BadField(name, "is empty")
    if prompt is None:
        return answered(chat, name)
    before = messages(prompt, "prompt") if isinstance(prompt, list) else prompt
    if len(chat) > 1:  # UltraFeedback repeats the prompt in both chats
        return answered(chat, name)
    if isinstance(before, list):
        before = [{"role": turn["role"], "content": content(turn, "prompt")} for turn in before]
    return before, content(chat[0], name)


def _is_labelled(fields: Fields) -> bool:
    return {"prompt", "completion", "label"} <= fields.keys() and fields["label"] in BOOLEANS if _plain(fields) else False


def _plain(fields: Fields) -> bool:
    return isinstance(fields.get("label"), bool | str)


def _labelled(fields: Fields, around: Surroundings) -> Iterator[Entry | LeftOut]:
    """TRL's unpaired preference: a thumb up or down for each completion."""
    completion = fields["completion"]
    if not isinstance(completion, str):
        chat = messages(completion, "completion")
        if len(chat) != 1:
            raise BadField("completion", f"expected one message, found {len(chat) or kind_of(completion)}")
        completion = content(chat[0], "completion")
    others = {name: value for name, value in fields.items() if name not in ("prompt", "completion", "label")}
    known = others | {"context": fields["prompt"], "output": completion}
    yield Entry(OUTPUTS, known)
    if fields["label"] in (None, ""):
        yield LeftOut(SCORES, "has no label")
    elif fields["label"] not in BOOLEANS:
        raise BadField("label", "expected true or false")
    else:
        yield Entry(SCORES, known | {"aspect": "label", "scale": [0, 1], "score": BOOLEANS[fields["label"]]})


CHAT = Shape(
    name="chat that ends with the answer",
    address="https://platform.openai.com/docs/guides/supervised-fine-tuning",
    kinds=(OUTPUTS,),
    recognises=_is_chat,
    entries=_chat,
)
BATCH = Shape(
    name="batch of chats",
    address="https://platform.openai.com/docs/guides/batch",
    kinds=(OUTPUTS,),
    recognises=_is_batch,
    entries=_batch,
    guess="custom_id is the context, whose text is not in this file: it has to be in the campaign already.",
)
CHOICES = Shape(
    name="MT-bench answers",
    address="https://github.com/lm-sys/FastChat/tree/main/fastchat/llm_judge",
    kinds=(OUTPUTS,),
    recognises=_is_choices,
    entries=_choices,
)
PREFERENCE = Shape(
    name="TRL preference",
    address="https://huggingface.co/docs/trl/dataset_formats#preference",
    kinds=(OUTPUTS, JUDGMENTS),
    recognises=_is_preference,
    entries=_preference,
    guess="Where no column names the models, the two texts' systems are called chosen and rejected.",
)
LABELLED = Shape(
    name="TRL unpaired preference",
    address="https://huggingface.co/docs/trl/dataset_formats#unpaired-preference",
    kinds=(OUTPUTS, SCORES),
    recognises=_is_labelled,
    entries=_labelled,
    guess="A true label is the score 1 on the criterion label, a false one the score 0.",
)
