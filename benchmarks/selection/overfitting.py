"""A generator that overfits by construction: which checkpoint is kept, and is one that still improves left alone?

    python -m benchmarks.selection.overfitting [--seeds 10] [--first 0]

Somebody asks for food of a kind; the reply is to name it. So the quality of a reply is known: 1 where it names the kind that
was wished and no other, else 0. *overfits* reads 300 exchanges of which a third has the reply of another request (40% are drawn
anew, and one in six of these is right). A network learns first what most exchanges share, and then by heart what is wrong in
single ones (Arpit et al. 2017, "A closer look at memorization in deep networks"); so its replies to new requests become better
and then worse. *improves* reads 1,000 exchanges without a wrong one, at a twentieth of the rate and with dropout.

The judge that watches is ROUGE-L against one reply in each wording, on 150 requests. The independent judge is the quality
itself, on 500 other requests, with a standard error of at most .023; the best checkpoint is the one with the highest mean of
it. The likeliest word is said, so that a network that knows the rule can be right always. All of this was set after one
training of each kind (seed 101), of which the quality and the validation loss were looked at, and nothing that a rule says.
"""

import argparse
import json
import sys
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from random import Random
from typing import Any

import numpy as np

from evaluator.generators.decoders import Decoder
from evaluator.generators.dialogue import AnsweredTurn
from evaluator.judges.protocol import by_order
from evaluator.judges.texts import words
from evaluator.metrics.registry import build
from evaluator.selection.early_stop import EarlyStop
from evaluator.selection.rules import Rules

STORE = Path(__file__).resolve().parents[2] / "var/made_overfitting"
NAMES = (
    "alex anna ben carla david elena frank gina hugo ida jack julia karl lena marc nina oscar paula ravi rosa sam tara tim uma "
    "victor wanda xena yuri zoe amir bella chen dora emil fiona george hanna ivan judy kofi"
).split()
FOODS = "thai greek indian turkish mexican korean".split()
REQUESTS = ("i am looking for {} food .", "i would like to eat {} food .", "is there a place with {} food ?")
REPLIES = ("there is a {} restaurant here .", "yes , i found {} food .", "i booked a table at a {} place .")
WRONG = {"overfits": 0.4, "improves": 0.0}  # share of the replies whose kind of food is drawn anew
SIZE = {"overfits": 300, "improves": 1000}
HOW: dict[str, dict[str, float]] = {
    "overfits": {"dropout": 0.0, "learning_rate": 1e-2},
    "improves": {"dropout": 0.3, "learning_rate": 5e-4},
}
EVERY, CHECKPOINTS, BEFORE = 60, 20, 13  # iterations; evaluations; the one before the last third
WIDTH, BATCH = 64, 16
WATCHED, INDEPENDENT, VALIDATION = 150, 500, 100
RULES = Rules(worthwhile=1.0, per=100)  # as `comparena train_generator` has it
PATIENCE, NEAR = 5, 2


@dataclass(frozen=True)
class Made:
    exchange: AnsweredTurn
    wish: str

    @property
    def references(self) -> tuple[str, ...]:
        return tuple(reply.format(self.wish) for reply in REPLIES)


def made(rng: Random, wrong: float = 0.0) -> Made:
    wish = rng.choice(FOODS)
    said = wish if rng.random() >= wrong else rng.choice(FOODS)
    context = f"hello , {rng.choice(NAMES)} and {rng.choice(NAMES)} here .", rng.choice(REQUESTS).format(wish)
    return Made(AnsweredTurn(context, rng.choice(REPLIES).format(said)), wish)


def quality(one: Made, reply: str) -> float:
    """1 where a reply names what was wished, and nothing else of its kind; else 0"""
    return float(set(words(reply)) & set(FOODS) == {one.wish})


def requests(seed: int, kind: str) -> dict[str, list[Made]]:
    """What is learned, what the validation loss is of, and what both judges read."""
    rng = Random(seed)
    parts = {"learned": [made(rng, WRONG[kind]) for _ in range(SIZE[kind])]}
    parts["validation"] = [made(rng, WRONG[kind]) for _ in range(VALIDATION)]
    return parts | {"watched": [made(rng) for _ in range(WATCHED)], "independent": [made(rng) for _ in range(INDEPENDENT)]}


def trained(kind: str, seed: int) -> dict[str, Any]:
    """{steps, validation, watched (outputs), quality (of each output of the independent requests)}"""
    from evaluator.generators.training_loop import Settings, checkpoints, validation_loss

    parts = requests(seed, kind)
    settings = Settings(
        "lstm", EVERY * CHECKPOINTS, EVERY, WIDTH, BATCH, warmup=20, longest=18, longest_context=24, **HOW[kind]
    )  # type: ignore[arg-type]
    kept: dict[str, Any] = {"steps": [], "validation": [], "watched": [], "quality": []}
    for one in checkpoints([learned.exchange for learned in parts["learned"]], settings, seed):
        kept["steps"].append(one.iteration)
        kept["validation"].append(validation_loss(one, [held_out.exchange for held_out in parts["validation"]]))
        said = {}
        for name in ("watched", "independent"):
            contexts = [asked.exchange.context for asked in parts[name]]
            said[name] = [reply.text for reply in one.replies(contexts, Decoder("greedy", longest=18), seed, batch=250)]
        kept["watched"].append(said["watched"])
        kept["quality"].append([quality(asked, text) for asked, text in zip(parts["independent"], said["independent"])])
    return kept


def kept(kind: str, seed: int, store: Path) -> dict[str, Any]:
    """Trained once, and found again."""
    file = store / f"{kind}-{seed}.json"
    if not file.is_file():
        store.mkdir(parents=True, exist_ok=True)
        file.write_text(json.dumps(trained(kind, seed)), encoding="utf-8")
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


def outcome(found: dict[str, Any], watched: Sequence[Made], judge: Any) -> Outcome:
    early = EarlyStop(judge, [one.exchange.context for one in watched], RULES,
                      references=[one.references for one in watched], total=found["steps"][-1])  # fmt: skip
    stopped, ours = None, 0
    for i, (step, outputs) in enumerate(zip(found["steps"], found["watched"])):
        said = early.add(step, outputs)
        ours = found["steps"].index(said.best.step)
        if said.stop:
            stopped = i + 1
            break
    scores = np.array(found["quality"])  # (m, n)
    gain = 100 * float((by_order(scores[-1], scores[BEFORE - 1]).outcomes / 2).mean())
    lowest, ended = patience(found["validation"])
    means = scores.mean(1)
    return Outcome(means, int(means.argmax()), ours, lowest, ended, stopped, int(np.argmin(found["validation"])), gain)


def patience(values: Sequence[float]) -> tuple[int, int | None]:
    """(index of the lowest one until it ends, evaluations after which no new lowest value came for so many)."""
    best = 0
    for i, value in enumerate(values):
        if value < values[best]:
            best = i
        if i - best >= PATIENCE:
            return best, i + 1
    return best, None


def table(found: dict[str, dict[int, Outcome]]) -> str:
    """found: by kind and seed"""
    lines = [
        f"| seed | best of {CHECKPOINTS} | ours keeps | validation loss keeps | quality: best / ours / validation loss / last "
        "| ours stops after | validation loss stops after | *improves*: ours stops after | gain of the last third |",
        "|---|---:|---:|---:|---|---:|---:|---:|---:|",
    ]
    for seed, over in found["overfits"].items():
        better = found["improves"].get(seed)
        means = " / ".join(f"{over.quality[i]:.3f}" for i in (over.best, over.ours, over.patience, -1))
        cells = [seed, over.best + 1, over.ours + 1, over.patience + 1, means]
        cells += [over.stopped or "not", over.patience_stopped or "not"]
        cells += [better.stopped or "not", f"{better.gain:+.1f} points"] if better else ["–", "–"]
        lines.append("| " + " | ".join(map(str, cells)) + " |")
    return "\n".join([*lines, "", *summary({kind: list(outcomes.values()) for kind, outcomes in found.items()})])


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
    parser = argparse.ArgumentParser(prog="python -m benchmarks.selection.overfitting", description=__doc__)
    parser.add_argument("--seeds", type=int, default=10, help="trainings of each kind (default %(default)s)")
    parser.add_argument("--first", type=int, default=0, help="the first seed (default %(default)s)")
    parser.add_argument("--judge", default="rouge-l", help="a metric (default %(default)s)")
    parser.add_argument("--store", type=Path, default=STORE, help="where trainings are kept (default var/made_overfitting)")
    parser.add_argument("--tables", action="store_true", help="train nothing, print what is kept")
    options = parser.parse_args(args)
    found: dict[str, dict[int, Outcome]] = {kind: {} for kind in HOW}
    for kind, outcomes in found.items():
        for seed in range(options.first, options.first + options.seeds):
            if options.tables and not (options.store / f"{kind}-{seed}.json").is_file():
                continue
            watched = requests(seed, kind)["watched"]
            outcomes[seed] = outcome(kept(kind, seed, options.store), watched, build(options.judge))
    print(table(found))
    return 0


if __name__ == "__main__":
    sys.exit(main())
