"""Simulated campaigns of people who are not alike, as the product's defaults meet them: what is entered, and what is true.

Nothing here is imported from the product, nor from `generators`. A person sees an output on a latent scale as the system's
strength, the output's own luck, the person's leaning to the system and noise, less the person's severity; the leaning's and
the luck's spread may differ from system to system. Equal systems have equal strengths, so a statement that one of them is
better than another is false. Camps: half of the people lean one way between the first system and the second, half the other.
Topics and copies are not declared. Ranks: each person orders the outputs of a context, and the places are entered as scores."""

from dataclasses import dataclass, replace

import numpy as np

EASY = 0.5  # standard deviation of how easy contexts are
TIE = 0.3  # on the latent scale: a smaller gap is a tie


@dataclass(frozen=True)
class Crowd:
    """strengths: (systems,); people; contexts; k: people who score a context's outputs; spread: "outputs", other people for
    each output, or "contexts", the same for a context's; points: of the scale, 0 where two outputs are compared by A / tie / B;
    taste, luck: standard deviations of a person's leaning to a system and of an output; polarising, erratic: the same for the
    last system; camps: how far each camp leans; topics: number, of SD `topic`; copies: ids of each prompt; form: "scores",
    "ranks" or "pairs"; pairs_too: judgments of pairs beside the scores; looks: at how many moments a board is made."""

    strengths: tuple[float, ...] = (0.0,) * 5
    people: int = 12
    contexts: int = 60
    k: int = 3
    spread: str = "outputs"
    points: int = 5
    taste: float = 0.4
    luck: float = 0.5
    severity: float = 0.5
    noise: float = 0.8
    polarising: float = 0.0
    erratic: float = 0.0
    camps: float = 0.0
    topics: int = 0
    topic: float = 0.8
    copies: int = 1
    form: str = "scores"
    pairs_too: int = 0
    looks: int = 1

    @property
    def systems(self) -> int:
        return len(self.strengths)


@dataclass(frozen=True)
class Entered:
    """What people entered, in their order of time. Scores: (n,) context, system, person, value; pairs: (m,) pair_context,
    first, second, pair_person, outcome (+1 the first is better, 0 a tie)."""

    context: np.ndarray
    system: np.ndarray
    person: np.ndarray
    value: np.ndarray
    pair_context: np.ndarray
    first: np.ndarray
    second: np.ndarray
    pair_person: np.ndarray
    outcome: np.ndarray

    def until(self, contexts: int) -> "Entered":
        """The answers on the first so many contexts."""
        scores, pairs = self.context < contexts, self.pair_context < contexts
        of_scores = (self.context, self.system, self.person, self.value)
        of_pairs = (self.pair_context, self.first, self.second, self.pair_person, self.outcome)
        return Entered(*(column[scores] for column in of_scores), *(column[pairs] for column in of_pairs))


def draw(crowd: Crowd, seed: int) -> Entered:
    rng = np.random.default_rng([seed, 77])
    leaning = _leaning(crowd, rng)
    severity = rng.normal(0, crowd.severity, crowd.people)
    worth, text = _worth(crowd, rng)
    scores = _scores(crowd, rng, leaning, severity, worth, text)
    pairs = _pairs(crowd, rng, leaning, worth) if crowd.form == "pairs" or crowd.pairs_too else np.zeros((5, 0), dtype=int)
    return Entered(*scores, *pairs)


def _leaning(c: Crowd, rng: np.random.Generator) -> np.ndarray:
    """(people, systems)"""
    spread = np.full(c.systems, c.taste)
    spread[-1] = c.polarising or c.taste
    leaning = rng.normal(size=(c.people, c.systems)) * spread
    side = np.where(rng.random(c.people) < 0.5, 1, -1)  # each person comes from one of two camps that are equally large
    leaning[:, 0] += c.camps * side
    leaning[:, 1] -= c.camps * side
    return leaning


def _worth(c: Crowd, rng: np.random.Generator) -> tuple[np.ndarray, np.ndarray]:
    """(contexts, systems) of each output, and (contexts,) how easy the context is. Copies share both."""
    prompts = -(-c.contexts // c.copies)
    spread = np.full(c.systems, c.luck)
    spread[-1] = c.erratic or c.luck
    worth = np.asarray(c.strengths) + rng.normal(size=(prompts, c.systems)) * spread
    if c.topics:
        worth = worth + rng.normal(0, c.topic, (c.topics, c.systems))[np.arange(prompts) % c.topics]
    easy = rng.normal(0, EASY, prompts)
    of = np.arange(c.contexts) % prompts
    return worth[of], easy[of]


def _scores(c: Crowd, rng, leaning, severity, worth, easy) -> tuple[np.ndarray, ...]:
    if c.form == "pairs":
        return np.zeros(0, int), np.zeros(0, int), np.zeros(0, int), np.zeros(0)
    context, system = np.divmod(np.arange(c.contexts * c.systems), c.systems)
    of = context if c.spread == "contexts" or c.form == "ranks" else np.arange(len(context))
    person = np.argsort(rng.random((of.max() + 1, c.people)), axis=1)[of, : c.k].ravel()
    context, system = np.repeat(context, c.k), np.repeat(system, c.k)
    seen = worth[context, system] + leaning[person, system] + easy[context] - severity[person]
    seen = seen + rng.normal(0, c.noise, len(seen))
    if c.form == "ranks":
        return context, system, person, _places(context * c.people + person, seen)
    return context, system, person, 1.0 + np.searchsorted(cuts(c), seen)


def cuts(c: Crowd) -> np.ndarray:
    """Between the points of the scale: (points - 1,)"""
    return np.linspace(-1.6, 1.6, c.points + 1)[1:-1]


def _places(sheet: np.ndarray, seen: np.ndarray) -> np.ndarray:
    """The place of each answer on its sheet, the last is 1: (answers,)"""
    order = np.lexsort((seen, sheet))
    start = np.maximum.accumulate(np.where(np.diff(sheet[order], prepend=-1) != 0, np.arange(len(order)), 0))
    place = np.empty(len(order))
    place[order] = np.arange(len(order)) - start + 1.0
    return place


def _pairs(c: Crowd, rng, leaning, worth) -> np.ndarray:
    """Five pairs of a context, or all if there are fewer, by k people each; or so many judgments as stand beside the scores.
    Nobody judges a pair twice."""
    every = np.stack(np.triu_indices(c.systems, 1))  # (2, pairs)
    few = min(5, every.shape[1])
    if c.pairs_too:
        drawn = rng.choice(c.contexts * every.shape[1] * c.people, size=c.pairs_too, replace=False)
        context, pair, person = np.unravel_index(drawn, (c.contexts, every.shape[1], c.people))
    else:
        pair = np.repeat(np.argsort(rng.random((c.contexts, every.shape[1])), axis=1)[:, :few].ravel(), c.k)
        person = np.argsort(rng.random((c.contexts * few, c.people)), axis=1)[:, : c.k].ravel()
        context = np.repeat(np.arange(c.contexts), few * c.k)
    turned = rng.random(len(pair)) < 0.5
    first, second = np.where(turned, every[::-1, pair], every[:, pair])
    gap = worth[context, first] + leaning[person, first] - worth[context, second] - leaning[person, second]
    gap = gap + rng.normal(0, c.noise * np.sqrt(2), len(gap))
    outcome = np.where(np.abs(gap) < TIE, 0, np.sign(gap)).astype(int)
    return np.stack([context, first, second, person, outcome])


def scenarios() -> dict[str, Crowd]:
    """Equal systems, as the table of docs/results/default-path.md names them."""
    base = Crowd()
    return {
        "12 people, 5 points": base,
        "8 people, 5 points": replace(base, people=8),
        "8 people, 100 points": replace(base, people=8, points=100),
        "4 people, 5 points": replace(base, people=4),
        "one of 5 systems polarises": replace(base, polarising=1.6),
        "one of 8 systems polarises": replace(base, strengths=(0.0,) * 8, polarising=1.6),
        "one system is erratic": replace(base, erratic=2.0),
        "two camps": replace(base, camps=1.0),
        "8 topics, undeclared": replace(base, topics=8),
        "4 prompts under 15 ids": replace(base, copies=15),
        "ranks of 2 as scores": replace(base, strengths=(0.0,) * 2, people=6, contexts=40, form="ranks"),
        "ranks of 3 as scores": replace(base, strengths=(0.0,) * 3, people=6, contexts=40, form="ranks"),
        "ranks of 4 as scores": replace(base, strengths=(0.0,) * 4, people=6, contexts=40, form="ranks"),
        "yes or no": replace(base, points=2),
        "pairs": replace(base, form="pairs"),
        "pairs, one system polarises": replace(base, form="pairs", polarising=1.6),
        "8 looks": replace(base, looks=8, contexts=80),
    }
