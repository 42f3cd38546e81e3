"""Zhao et al. (2020): metrics with and without a reference, semi-supervised, on an encoder that learns along; in another set,
from few scores, with noise and rounded.

Two sets stand for the paper's one. Its own release (720 of its 900 outputs, with Relevance) has neither references nor names of
systems; dailydialog_gupta has both. As there, the person's reply is the reference, and is judged too."""

from collections.abc import Callable, Mapping
from dataclasses import replace
from functools import partial
from pathlib import Path

import numpy as np

from benchmarks.studies.figures import correlations
from benchmarks.studies.judged_sets import JudgedSet, lines, read
from benchmarks.studies.runs import DIALOGUES
from benchmarks.studies.study import Asked, Part, Result, model_digest
from benchmarks.studies.zhao_tables import tables as tables  # as every study has them
from evaluator.comparator.examples import Examples
from evaluator.comparator.settings import Settings
from evaluator.comparator.supervision.self_supervision import exchanges, unseen
from evaluator.encoders.text_encoder import KeptEncodings
from evaluator.judges.protocol import Judge
from evaluator.judges.texts import Referenced, Text, context_key, named
from evaluator.metaevaluation.correlation import UndefinedCorrelation
from evaluator.metaevaluation.score_changes import SIGMAS, noisy_correlations, rounded
from evaluator.metrics.inputs import MissingInput, Training
from evaluator.metrics.registry import build

PAPER = "Zhao et al. 2020, precise and robust dialogue response evaluators"
OWN, REFERENCED, ELSEWHERE = "dailydialog_zhao", "dailydialog_gupta", "usr_persona_chat"
EVALUATOR = "reference-free-tuned"
REFERENCED_METRICS = (
    *("bleu-2", "embedding-average", "embedding-extrema", "embedding-greedy"),
    *("adem", "adem-referenced", "adem-unreferenced", "ruber", "ruber-referenced", "ruber-unreferenced"),
    *("ruber-semi-supervised", EVALUATOR),
)
FROM_0_TO_1 = ("adem", "adem-referenced", "adem-unreferenced", "ruber-unreferenced")  # shown from 1 to 5, as in the paper
OWN_METRICS = ("ruber-unreferenced", "ruber-semi-supervised", EVALUATOR)
FEW = (36, 99, 198, 360)  # scored outputs, about: whole contexts of nine
MOST_REPLIES = {"tiny": 10, "small": 600, "paper": 100_000}  # of people, for the next utterance; the paper has 130,000
TRAININGS = {"tiny": 1, "small": 3, "paper": 100}  # on noise, of each size; the paper's 100 trials
DRAWS = {"tiny": 1, "small": 3, "paper": 5}


def unavailable(asked: Asked) -> list[tuple[str, str]]:
    if asked.sets:
        missing = "It takes conversations of other people, and a second set, which a campaign's scores do not bring."
        return [("The next utterance (Table 2), and another set (Table 4)", missing)]
    return [
        ("Figure 1(b), scores by source", "The release does not say which system wrote an output."),
        ("Grammar", "The release has no scores of it."),
        ("RoBERTa-large, HRED, VHRED", "No package has their weights; --encoder names yours."),
        ("PersonaChat's 900 outputs", "They are not in the release; usr_persona_chat stands for them."),
    ]


def parts(asked: Asked) -> list[Part]:
    tiny = asked.preset == "tiny"
    sets = asked.sets or (OWN, REFERENCED, ELSEWHERE)
    how = {"data": asked.of_sets(*sets), "dialogues": "" if asked.sets else asked.digest(DIALOGUES), "seed": asked.seed}
    how |= {"encoder": [*map(model_digest, asked.encoder)], "replies": MOST_REPLIES[asked.preset], "tiny": tiny}
    slow = 0.02 if tiny else 1.0 if asked.preset == "small" else 20.0
    found: list[Part] = []

    def part(name: str, minutes: float, work: Callable[..., Result], *given: object) -> None:
        found.append(Part(name, minutes * slow, partial(work, asked, *given), {**how, "given": given}))

    measured = {sets[0]: REFERENCED_METRICS} if asked.sets else {REFERENCED: REFERENCED_METRICS, OWN: OWN_METRICS}
    for name, metrics in measured.items():
        for metric in metrics:
            learns = metric in (EVALUATOR, "ruber-semi-supervised")
            part(f"{name}-{metric}", 12 if learns else 1, _measured, name, metric)
    for name, other in () if asked.sets else ((OWN, ELSEWHERE), (ELSEWHERE, OWN)):
        for metric in (EVALUATOR, "ruber-unreferenced", "comparator"):
            part(f"{name}-to-{other}-{metric}", 1 if metric == "ruber-unreferenced" else 8, _transferred, name, other, metric)
    for judge in (EVALUATOR, "comparator"):
        for outputs in FEW:
            for draw in range(DRAWS[asked.preset]):
                part(f"{judge}-from-{outputs}-{draw}", outputs / 60, _from_few, sets[0], judge, outputs, draw)
    for sigma in SIGMAS:
        for trial in range(1, TRAININGS[asked.preset] + 1):
            part(f"{EVALUATOR}-noise-{sigma}-{trial}", 12, _from_noise, sets[0], sigma, trial)
    return found


def _read(asked: Asked, name: str) -> JudgedSet:
    """The reply of the person is the reference of all, itself too, as in the paper. Of a campaign, what people scored."""
    known = read(asked.data, name, contexts=8 if asked.preset == "tiny" else None)
    if asked.sets:
        kept = np.flatnonzero(np.isfinite(known.scores[:, 0]))
        texts = [known.texts[i] for i in kept]
        return replace(known, texts=texts, people=known.people.take(kept), scores=known.scores[kept])
    if name != REFERENCED:
        return known
    own = {context_key(text.context): text.output for text in known.texts if text.human}
    texts = [Referenced(t.context, t.output, (own[context_key(t.context)],), **named(t)) for t in known.texts]
    return replace(known, texts=texts)


def _replies(asked: Asked, *sets: JudgedSet) -> list[Referenced]:
    """What people answered in conversations that no text of the sets comes from"""
    if asked.sets:
        return []
    rows = lines(asked.data / DIALOGUES)
    said = exchanges((row["dialogue_id"], row["turns"], row["references"]) for row in rows)
    left = unseen(said, [text.context for known in sets for text in known.texts])
    rng = np.random.default_rng(asked.seed)
    chosen = rng.permutation(len(left))[: MOST_REPLIES[asked.preset]]
    return [Referenced(left[i].context, left[i].replies[0], human=True) for i in sorted(chosen)]


def _built(asked: Asked, metric: str, known: JudgedSet, scores: np.ndarray, *others: JudgedSet) -> Judge:
    """Taught by scores (n,) of the set, NaN being none, and by conversations."""
    replies = _replies(asked, known, *others) if metric in OWN_METRICS else []
    texts, scores = [*known.texts, *replies], np.concatenate([scores, np.full(len(replies), np.nan)])
    training = Training.dealt(texts, scores.tolist(), folds=2 if asked.preset == "tiny" else 5, seed=asked.seed)
    return build(metric, encoder=_encoder(asked), training=replace(training, scales=[(0.0, 1.0)]))


def _encoder(asked: Asked) -> KeptEncodings:
    return KeptEncodings.load(asked.encoder[0] if asked.encoder else "")


def _of_five(known: JudgedSet, column: int = 0) -> np.ndarray:
    """(n,) people's means from 1 to 5"""
    return 1 + 4 * known.scores[:, column]


def _measured(asked: Asked, name: str, metric: str, found: Mapping[str, Result], place: Path) -> Result:
    """{all, without_people: {figures, sd, people_sd}, utilities, people, relevance: ..., noise: ...}"""
    known = _read(asked, name)
    try:
        u, people = _built(asked, metric, known, known.scores[:, 0]).utilities(known.texts), _of_five(known)
    except MissingInput as missing:
        return {"lacks": str(missing)}
    if metric in FROM_0_TO_1:
        u = 1 + 4 * u
    rows = {"all": np.arange(len(u)), "without_people": np.flatnonzero(~known.people.human)}
    result: Result = {"set": name, "metric": metric, "utilities": u.tolist(), "people": people.tolist()}
    for label, some in rows.items():
        result[label] = _figures(u[some], known, some, asked.seed)
    if name == OWN:
        result["relevance"] = correlations(u, replace(known.people, scores=_of_five(known, 1)[:, None]), asked.seed)
    if metric == EVALUATOR:
        result["noise"] = {str(sigma): _noisy(u, people, sigma) for sigma in SIGMAS}
        result["rounded"] = correlations(rounded(u, 1, 5), known.people, asked.seed)
    return result


def _noisy(u: np.ndarray, people: np.ndarray, sigma: float) -> tuple[float, float] | None:
    """None where all outputs have one score, so that there is no correlation."""
    try:
        return noisy_correlations(u, people, sigma)
    except UndefinedCorrelation:
        return None


def _figures(u: np.ndarray, known: JudgedSet, rows: np.ndarray, seed: int) -> Result:
    people = _of_five(known)[rows]
    figures = correlations(u, known.people.take(rows), seed)
    return {"figures": figures, "sd": float(np.std(u)), "people_sd": float(np.std(people)), "outputs": len(rows)}


def _transferred(asked: Asked, name: str, other: str, metric: str, found: Mapping[str, Result], place: Path) -> Result:
    known, there = _read(asked, name), _read(asked, other)
    if metric == "comparator":
        u = _comparator(asked, known, np.arange(len(known.texts)), place, there)
    else:
        u = _built(asked, metric, known, known.scores[:, 0], there).utilities(there.texts)
    return {"from": name, "to": other, "metric": metric, "figures": correlations(u, there.people, asked.seed)}


def _comparator(asked: Asked, known: JudgedSet, rows: np.ndarray, place: Path, judged: JudgedSet) -> np.ndarray:
    """(m,) what a utility comparator that learnt from the outputs `rows` of a set expects of people for another's outputs"""
    from evaluator.comparator.architectures import load
    from evaluator.comparator.training.train import fit

    taken = known.people.take(rows)
    plain = lambda text: Text(text.context, text.output, **named(text))
    recipe = Settings(encoder=asked.encoder[0] if asked.encoder else "", next_utterance=False, references=False)
    if asked.preset == "tiny":
        recipe = replace(recipe, folds=2, epochs=1, max_length=64, precision="fp32")
    fit(Examples([plain(known.texts[i]) for i in rows], list(taken.pairs), known.scores[rows, :1]), recipe, asked.seed, place)
    return np.asarray(load(place).score([plain(text) for text in judged.texts]))


def _from_few(asked: Asked, name: str, judge: str, outputs: int, draw: int, found: Mapping[str, Result], place: Path) -> Result:
    """Pearson and Spearman on the outputs of the other contexts."""
    known = _read(asked, name)
    contexts = known.people.contexts
    each = len(contexts) / (contexts.max() + 1)
    drawn = np.random.default_rng([asked.seed, draw]).permutation(contexts.max() + 1)
    chosen = np.isin(contexts, drawn[: min(max(4, round(outputs / each)), len(drawn) - 2)])  # (n,)
    if judge == "comparator":
        u = _comparator(asked, known, np.flatnonzero(chosen), place, known)
    else:
        u = _built(asked, judge, known, np.where(chosen, known.scores[:, 0], np.nan)).utilities(known.texts)
    others = np.flatnonzero(~chosen)
    figures = correlations(u[others], known.people.take(others), asked.seed)
    return {"judge": judge, "asked": outputs, "outputs": int(chosen.sum()), "figures": figures}


def _from_noise(asked: Asked, name: str, sigma: float, trial: int, found: Mapping[str, Result], place: Path) -> Result:
    """Trained on mean scores with noise, in points of a scale from 1 to 5; measured on those without."""
    known = _read(asked, name)
    noise = np.random.default_rng(trial).normal(0.0, sigma, len(known.texts)) / 4
    u = _built(asked, EVALUATOR, known, known.scores[:, 0] + noise).utilities(known.texts)
    return {"sigma": sigma, "trial": trial, "figures": correlations(u, known.people, asked.seed)}
