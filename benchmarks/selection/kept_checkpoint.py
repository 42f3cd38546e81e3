"""Which checkpoint is kept of a generator that overfits, and is one that still improves left alone?

    python -m benchmarks.selection.kept_checkpoint DIALOGUES [--seeds 10]

DIALOGUES: rows {turns, references}; `references` has, for each turn after the first, what else people answered. Rows that
share a turn of five words or more stay together, and are dealt to five parts that share nothing: what generators learn from,
what their validation loss is of, contexts that the judge watches, contexts of the independent judge, and texts that the judge
learned from.

Both trainings are an LSTM's. *overfits* reads 300 exchanges again and again without dropout; *improves* reads 1,000 exchanges
five times at a tenth of the rate, so that its validation loss still falls at its end. The judge knows how probable words are (a
Kneser-Ney model); the independent judge knows what people answered (ROUGE-L). The best checkpoint is the one with the highest
mean of the independent judge over all of its contexts: this was set before any training was made.
"""

import argparse
import json
import re
import sys
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from random import Random
from typing import Any

import numpy as np

from core.rowfiles import read_rows
from evaluator.generators.dialogue import AnsweredTurn, exchanges
from evaluator.judges.protocol import by_order
from evaluator.judges.texts import Referenced
from evaluator.metrics.registry import build
from evaluator.selection.early_stop import EarlyStop
from evaluator.selection.rules import Rules

STORE = Path(__file__).resolve().parents[2] / "var/overfitting"
SHARES = {"learned": 0.35, "validation": 0.05, "watched": 0.12, "independent": 0.18, "judge": 0.30}  # of the dialogues
MOST = {"learned": 1000, "validation": 100, "watched": 150, "independent": 200}  # exchanges
FEW, EVERY, CHECKPOINTS = 300, 20, 15
BEFORE = 10  # the checkpoint before the last third
HOW: dict[str, dict[str, float]] = {
    "overfits": {"dropout": 0.0, "learning_rate": 5e-3},
    "improves": {"dropout": 0.3, "learning_rate": 5e-4},
}
RULES = Rules(worthwhile=1.0, per=100)  # as `comparena train_generator` has it
PATIENCE, NEAR = 5, 2
LONG = 5  # words of a turn by which two dialogues are one


@dataclass(frozen=True)
class Answered:
    """An exchange with what people answered, its own reply first, and its dialogue."""

    exchange: AnsweredTurn
    references: tuple[str, ...]
    dialogue: int


Parts = dict[str, list[list[Answered]]]  # by part, of each dialogue


def read(path: Path) -> list[list[Answered]]:
    dialogues = []
    for number, row in enumerate(read_rows(path)):
        given = row.get("references") or []
        answered = []
        for i, exchange in enumerate(exchanges([row.texts("turns", required=True)])):
            others = given[i] if i < len(given) else []
            answered.append(Answered(exchange, tuple(dict.fromkeys([exchange.reply, *others])), number))
        dialogues.append(answered)
    return [dialogue for dialogue in dialogues if dialogue]


def dealt(dialogues: Sequence[list[Answered]], seed: int) -> Parts:
    """Dialogues that share a text go to one part together."""
    together = _connected([_long_texts(dialogue) for dialogue in dialogues])
    Random(seed).shuffle(together)
    parts: Parts = {name: [] for name in SHARES}
    names = list(SHARES)
    for group in together:
        full = [len(parts[name]) >= SHARES[name] * len(dialogues) for name in names]
        parts[names[full.index(False)]] += [dialogues[i] for i in group]
    return parts


def _long_texts(dialogue: list[Answered]) -> set[str]:
    texts = {text for one in dialogue for text in (*one.exchange.context, *one.references)}
    found = (re.findall(r"\w+", text.lower()) for text in texts)
    return {" ".join(words) for words in found if len(words) >= LONG}


def _connected(texts: list[set[str]]) -> list[list[int]]:
    """Of dialogues, by their texts; the dialogues of a group in their order."""
    root = list(range(len(texts)))

    def top(i: int) -> int:
        while root[i] != i:
            i = root[i]
        return i

    first: dict[str, int] = {}
    for i, those in enumerate(texts):
        for text in sorted(those):
            root[top(i)] = top(first.setdefault(text, i))
    groups: dict[int, list[int]] = {}
    for i in range(len(texts)):
        groups.setdefault(top(i), []).append(i)
    return list(groups.values())


def chosen(parts: Parts, name: str) -> list[Answered]:
    """Of a part, as many exchanges as it may have, from all its dialogues alike."""
    longest = max(map(len, parts[name]))
    in_turn = [dialogue[i] for i in range(longest) for dialogue in parts[name] if i < len(dialogue)]
    return in_turn[: MOST[name]]


def trained(kind: str, parts: Parts, seed: int) -> dict[str, Any]:
    """{steps, loss, validation, watched, independent}: the last two are outputs."""
    from evaluator.generators.decoders import Decoder
    from evaluator.generators.training_loop import Settings, checkpoints, validation_loss

    learned = [one.exchange for dialogue in parts["learned"] for one in dialogue]
    Random(seed).shuffle(learned)
    settings = Settings("lstm", EVERY * CHECKPOINTS, EVERY, 64, 16, warmup=20, longest=16, longest_context=24, **HOW[kind])  # type: ignore[arg-type]
    made: dict[str, Any] = {"steps": [], "loss": [], "validation": [], "watched": [], "independent": []}
    held_out = [one.exchange for one in chosen(parts, "validation")]
    for one in checkpoints(learned[: FEW if kind == "overfits" else MOST["learned"]], settings, seed):
        made["steps"].append(one.iteration)
        made["loss"].append(one.loss)
        made["validation"].append(validation_loss(one, held_out))
        for name in ("watched", "independent"):
            if name == "independent" and kind == "improves" and len(made["steps"]) not in (BEFORE, CHECKPOINTS):
                continue  # only the gain between these two is asked of it
            contexts = [answered.exchange.context for answered in chosen(parts, name)]
            made[name].append([reply.text for reply in one.replies(contexts, Decoder(longest=16), seed)])
    return made


def kept(kind: str, seed: int, parts: Parts, store: Path) -> dict[str, Any]:
    """Trained once, and found again."""
    file = store / f"{kind}-{seed}.json"
    if not file.is_file():
        store.mkdir(parents=True, exist_ok=True)
        file.write_text(json.dumps(trained(kind, parts, seed)), encoding="utf-8")
        print(file.stem, file=sys.stderr, flush=True)
    found: dict[str, Any] = json.loads(file.read_text(encoding="utf-8"))
    return found


@dataclass(frozen=True)
class Outcome:
    """Of one training. quality: (m,) means of the independent judge; the others are indices of checkpoints: the best by it, the
    one that our rule keeps of those until it stops, the one with the lowest validation loss before patience ends. stopped:
    evaluations after which our rule stops, None where it does not; gain: points of win rate by the independent judge of the
    last checkpoint against the one before the last third."""

    quality: np.ndarray
    best: int
    ours: int
    patience: int
    patience_stopped: int | None
    stopped: int | None
    lowest: int
    gain: float


def outcome(made: dict[str, Any], parts: Parts, judge: Any, independent: Any) -> Outcome:
    watched = chosen(parts, "watched")
    early = EarlyStop(judge, [one.exchange.context for one in watched], RULES, groups=[one.dialogue for one in watched],
                      references=[one.references for one in watched], total=made["steps"][-1])  # fmt: skip
    stopped, ours = None, 0
    for i, (step, outputs) in enumerate(zip(made["steps"], made["watched"])):
        said = early.add(step, outputs)
        ours = made["steps"].index(said.best.step)
        if said.stop:
            stopped = i + 1
            break
    scores = np.array(
        [_scores(independent, chosen(parts, "independent"), outputs) for outputs in made["independent"]]
    )  # (m, n)
    lowest, ended = patience(made["validation"])
    gain = 100 * float((by_order(scores[-1], scores[0 if len(scores) == 2 else BEFORE - 1]).outcomes / 2).mean())
    quality = scores.mean(1)
    return Outcome(quality, int(quality.argmax()), ours, lowest, ended, stopped, int(np.argmin(made["validation"])), gain)


def _scores(judge: Any, answered: list[Answered], outputs: list[str]) -> np.ndarray:
    texts = [Referenced(one.exchange.context, text, one.references) for one, text in zip(answered, outputs, strict=True)]
    return np.asarray(judge.utilities(texts))


def patience(values: Sequence[float]) -> tuple[int, int | None]:
    """(index of the lowest one until it ends, evaluations after which no new lowest value came for so many)."""
    best = 0
    for i, value in enumerate(values):
        if value < values[best]:
            best = i
        if i - best >= PATIENCE:
            return best, i + 1
    return best, None


def table(found: dict[str, list[Outcome]]) -> str:
    lines = [
        "| seed | best | ours keeps | validation loss keeps | quality best / ours / validation loss / last | ours stops at |"
    ]
    for seed, one in enumerate(found["overfits"]):
        quality = " / ".join(f"{one.quality[i]:.4f}" for i in (one.best, one.ours, one.patience, -1))
        lines.append(f"| {seed} | {one.best + 1} | {one.ours + 1} | {one.patience + 1} | {quality} | {one.stopped or 'not'} |")
    lines += ["", "| improves: seed | ours stops at | validation loss is lowest at | gain in the last third |"]
    for seed, one in enumerate(found["improves"]):
        lines.append(f"| {seed} | {one.stopped or 'not'} | {one.lowest + 1} | {one.gain:+.1f} |")
    return "\n".join([*lines, "", *summary(found)])


def summary(found: dict[str, list[Outcome]]) -> list[str]:
    over, seeds = found["overfits"], len(found["overfits"])
    near = {name: sum(abs(getattr(one, name) - one.best) <= NEAR for one in over) for name in ("ours", "patience")}
    last = sum(len(one.quality) - 1 - one.best <= NEAR for one in over)
    lost = {name: np.mean([one.quality[one.best] - one.quality[getattr(one, name)] for one in over]) for name in near}
    went_on = sum(one.stopped is None for one in found["improves"])
    return [
        f"Within {NEAR} checkpoints of the best: ours {near['ours']}, validation loss with patience {PATIENCE} "
        f"{near['patience']}, the last checkpoint {last}, of {seeds} trainings.",
        f"Mean quality lost against the best: ours {lost['ours']:.4f}, validation loss {lost['patience']:.4f}.",
        f"A training that improves was not stopped in {went_on} of {len(found['improves'])}.",
    ]


def main(args: list[str] | None = None) -> int:
    parser = argparse.ArgumentParser(prog="python -m benchmarks.selection.kept_checkpoint", description=__doc__)
    parser.add_argument("dialogues", type=Path)
    parser.add_argument("--seeds", type=int, default=10, help="trainings of each kind (default %(default)s)")
    parser.add_argument("--first", type=int, default=0, help="the first seed (default %(default)s)")
    parser.add_argument("--judge", default="ngram", help="a metric (default %(default)s)")
    parser.add_argument("--independent", default="rouge-l", help="a metric (default %(default)s)")
    parser.add_argument("--store", type=Path, default=STORE, help="where trainings are kept (default var/overfitting)")
    options = parser.parse_args(args)
    dialogues = read(options.dialogues)
    found: dict[str, list[Outcome]] = {kind: [] for kind in HOW}
    for seed in range(options.first, options.first + options.seeds):
        parts = dealt(dialogues, seed)
        texts = [text for dialogue in parts["judge"] for one in dialogue for text in one.references]
        judge, independent = build(options.judge, corpus=texts), build(options.independent)
        for kind in HOW:
            found[kind].append(outcome(kept(kind, seed, parts, options.store), parts, judge, independent))
    print(table(found))
    return 0


if __name__ == "__main__":
    sys.exit(main())
