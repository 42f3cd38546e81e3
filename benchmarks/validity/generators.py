"""Simulated campaigns, and the truth that they are about.

Nothing here is imported from the product: a campaign is drawn from a model of people that the estimator does not have. On a
latent scale person a sees system s on context c as

    use_a (strength_s + luck_cs + topic_ts + taste_as + opinion_acs) + difficulty_c - severity_a - drift_a (time - 1/2) + noise

with luck (and, where a scenario says so, taste) from Student's t with 5 degrees of freedom. Cut points make a score from 1 to 5
of it. Two outputs are compared by the difference of what is seen, where severity, difficulty and drift cancel; the person's
preference for the left side is added, and a difference within the threshold is a tie.

The truth is what infinitely many such people would say of infinitely many such contexts: for scores each system's mean score,
for pairs the Bradley-Terry strengths that fit the expected outcomes of all pairs of systems."""

from dataclasses import dataclass, replace
from itertools import combinations

import numpy as np
from scipy.special import expit, stdtr

CUTS = np.array([-1.5, -0.5, 0.5, 1.5])  # between the scores 1 to 5, where nothing lies at the ceiling
TAIL_DF = 5
T_NOISE = 1.405  # a t with 5 degrees of freedom, times this, varies as the standard logistic does: sqrt(pi^2 / 3 / (5 / 3))
RATING_POINTS = 173.7178  # for a logit: 400 / ln 10
DRAWS, CHUNK = 1_000_000, 100_000  # persons and contexts behind the truth


@dataclass(frozen=True)
class Campaign:
    """What is asked, and of whom. The effects are standard deviations, on the latent scale.

    design: "outputs", each output is scored by k people of its own; "dense", the k people of a context score all its outputs;
    "pairs", `pairs` pairs of a context are judged by k people each. load: "even"; "uneven", log-normal with SD 1; "one", one
    person gives 40% of the answers. tails: whether tastes are t-distributed. ceiling: how far the cut points are shifted
    down. polarising: SD of the last system's tastes, where it is another. topics: of contexts; 0 for none. tie: half the
    width of what is called a tie. apart: the first so many systems are judged on the first half of the contexts, the others
    on the second half, which is easier by 2. turns: of the conversations that each system has by itself; their topic is the
    conversation, and k people score all its turns. 0: systems answer the same contexts."""

    strengths: tuple[float, ...] = (0.0, 0.2, 0.4, 0.6, 0.8)
    contexts: int = 20
    annotators: int = 12
    k: int = 3
    design: str = "outputs"
    pairs: int = 5
    load: str = "even"
    severity: float = 0.5
    use: float = 0.15
    taste: float = 0.3
    polarising: float = 0.0
    tails: bool = False
    opinion: float = 0.0
    drift: float = 0.0
    side: float = 0.0
    difficulty: float = 0.5
    luck: float = 0.5
    topics: int = 0
    topic: float = 0.0
    noise: str = "logistic"
    noise_scale: float = 0.5
    ceiling: float = 0.0
    tie: float = 0.3
    apart: int = 0
    turns: int = 0

    @property
    def systems(self) -> int:
        return len(self.strengths)


@dataclass(frozen=True)
class Answers:
    """All (answers,). first, second, outcome: of pairs, the first is on the left; system, value: of scores; group: topics."""

    context: np.ndarray
    annotator: np.ndarray
    system: np.ndarray | None = None
    value: np.ndarray | None = None
    first: np.ndarray | None = None
    second: np.ndarray | None = None
    outcome: np.ndarray | None = None
    group: np.ndarray | None = None


@dataclass(frozen=True)
class People:
    """severity, use, drift, side: (people,); taste: (people, systems)"""

    severity: np.ndarray
    use: np.ndarray
    drift: np.ndarray
    side: np.ndarray
    taste: np.ndarray


def draw_people(campaign: Campaign, n: int, rng: np.random.Generator) -> People:
    return People(
        rng.normal(0, campaign.severity, n),
        np.exp(rng.normal(0, campaign.use, n)),
        rng.normal(0, campaign.drift, n),
        rng.normal(0, campaign.side, n),
        _tastes(campaign) * (_tailed if campaign.tails else _normal)((n, campaign.systems), rng),
    )


def _tastes(campaign: Campaign) -> np.ndarray:
    """(systems,) their SDs"""
    return np.array([campaign.taste] * (campaign.systems - 1) + [campaign.polarising or campaign.taste])


def draw_quality(campaign: Campaign, topic: np.ndarray, rng: np.random.Generator) -> np.ndarray:
    """Strength, luck and topic: (contexts, systems); topic: int (contexts,)"""
    of_topic = rng.normal(0, campaign.topic, (topic.max() + 1, campaign.systems))
    luck = campaign.luck * _tailed((len(topic), campaign.systems), rng)
    return np.asarray(campaign.strengths) + luck + of_topic[topic]


def draw_loads(campaign: Campaign, rng: np.random.Generator) -> np.ndarray:
    """(people,) shares of the answers, where one person answers each item."""
    n = campaign.annotators
    if campaign.load == "one":
        if campaign.k > 1:
            raise ValueError("One person can give 40% of the answers only where each item has one answer.")
        return np.array([0.4, *[0.6 / (n - 1)] * (n - 1)])
    weight = {"even": np.ones(n), "uneven": rng.lognormal(0, 1, n)}[campaign.load]
    return weight / weight.sum()


def draw_answers(campaign: Campaign, seed: int) -> Answers:
    rng = np.random.default_rng(seed)
    return (_pairs if campaign.design == "pairs" else _scores)(campaign, rng)


def _scores(c: Campaign, rng: np.random.Generator) -> Answers:
    context, system = np.divmod(np.arange(c.contexts * c.systems), c.systems)  # (items,)
    kept = _together(c, context, system)
    context, system = context[kept], system[kept]
    topic = _topics(c)
    together = topic[context] if c.turns else context if c.design == "dense" else np.arange(len(context))
    annotator = _assigned(c, together, rng)
    context, system = np.repeat(context, c.k), np.repeat(system, c.k)
    people = draw_people(c, c.annotators, rng)
    quality, difficulty = draw_quality(c, topic, rng), _difficulty(c, rng)
    opinion = rng.normal(0, c.opinion, len(context))
    seen = people.use[annotator] * (quality[context, system] + people.taste[annotator, system] + opinion) + difficulty[context]
    seen -= people.severity[annotator] + people.drift[annotator] * (_time(annotator, rng) - 0.5)
    value = _score(c, seen + _noise(c, len(seen), rng))
    return Answers(context, annotator, system, value, group=topic[context] if c.topics or c.turns else None)


def _pairs(c: Campaign, rng: np.random.Generator) -> Answers:
    pairs = np.array(list(combinations(range(c.systems), 2)))
    chosen = np.argsort(rng.random((c.contexts, len(pairs))), axis=1)[:, : c.pairs]  # (contexts, pairs)
    context, (first, second) = np.repeat(np.arange(c.contexts), chosen.shape[1]), pairs[chosen.ravel()].T
    kept = _together(c, context, first) & _together(c, context, second)
    context, first, second = context[kept], first[kept], second[kept]
    annotator = _assigned(c, np.arange(len(context)), rng)
    context, first, second = np.repeat(context, c.k), np.repeat(first, c.k), np.repeat(second, c.k)
    turned = rng.random(len(context)) < 0.5
    first, second = np.where(turned, second, first), np.where(turned, first, second)
    people, topic = draw_people(c, c.annotators, rng), _topics(c)
    worth = draw_quality(c, topic, rng)
    opinion = rng.normal(0, c.opinion, (c.annotators, c.contexts, c.systems))

    def seen(system: np.ndarray) -> np.ndarray:
        return worth[context, system] + people.taste[annotator, system] + opinion[annotator, context, system]

    difference = people.use[annotator] * (seen(first) - seen(second)) + people.side[annotator]
    outcome = _outcome(c, difference + _noise(c, len(context), rng))
    return Answers(context, annotator, first=first, second=second, outcome=outcome, group=topic[context] if c.topics else None)


def _together(c: Campaign, context: np.ndarray, system: np.ndarray) -> np.ndarray:
    if c.turns:
        return context // c.turns % c.systems == system
    return (system < c.apart) == (context < c.contexts // 2) if c.apart else np.ones(len(context), dtype=bool)


def _assigned(c: Campaign, draw: np.ndarray, rng: np.random.Generator) -> np.ndarray:
    """k different people for each item, one after the other by their loads: (items * k,). draw: int (items,), items with the
    same number get the same people. The smallest of exponential times at these rates come first (Efraimidis & Spirakis 2006).
    """
    times = rng.exponential(size=(draw.max() + 1, c.annotators)) / draw_loads(c, rng)
    return np.argsort(times, axis=1)[draw, : c.k].ravel()


def _topics(c: Campaign) -> np.ndarray:
    """(contexts,)"""
    if c.turns:
        return np.arange(c.contexts) // c.turns
    return np.arange(c.contexts) % c.topics if c.topics else np.arange(c.contexts)


def _difficulty(c: Campaign, rng: np.random.Generator) -> np.ndarray:
    second_half = np.arange(c.contexts) >= c.contexts // 2
    return rng.normal(0, c.difficulty, c.contexts) + (2.0 * second_half if c.apart else 0.0)


def _time(annotator: np.ndarray, rng: np.random.Generator) -> np.ndarray:
    """When in a person's work each answer is given, in random order: (answers,) from 0 to 1"""
    order = np.lexsort((rng.random(len(annotator)), annotator))
    count = np.bincount(annotator)
    start = np.cumsum(count) - count
    place = np.empty(len(annotator))
    place[order] = np.arange(len(annotator)) - start[annotator[order]]
    return (place + 0.5) / count[annotator]


def _normal(shape: tuple[int, ...], rng: np.random.Generator) -> np.ndarray:
    return rng.normal(size=shape)


def _tailed(shape: tuple[int, ...], rng: np.random.Generator) -> np.ndarray:
    """t-distributed with SD 1"""
    return rng.standard_t(TAIL_DF, shape) * np.sqrt((TAIL_DF - 2) / TAIL_DF)


def _noise(c: Campaign, n: int, rng: np.random.Generator) -> np.ndarray:
    drawn = rng.logistic(size=n) if c.noise == "logistic" else T_NOISE * rng.standard_t(TAIL_DF, n)
    return c.noise_scale * drawn


def _noise_below(c: Campaign, x: np.ndarray) -> np.ndarray:
    """The chance that the noise is below x."""
    x = x / c.noise_scale
    return expit(x) if c.noise == "logistic" else stdtr(TAIL_DF, x / T_NOISE)


def _score(c: Campaign, seen: np.ndarray) -> np.ndarray:
    return 1 + np.searchsorted(CUTS - c.ceiling, seen)


def _outcome(c: Campaign, seen: np.ndarray) -> np.ndarray:
    return np.where(np.abs(seen) < c.tie, 0, np.sign(seen)).astype(int)


def truth(campaign: Campaign, draws: int = DRAWS) -> np.ndarray:
    """(systems,) in points of the scale, or in rating points with mean 0. Each draw is a new person, with a new context."""
    rng = np.random.default_rng(20_231)
    expected = _expected_outcomes if campaign.design == "pairs" else _expected_scores
    chunks = [expected(campaign, min(CHUNK, draws), rng) for _ in range(-(-draws // CHUNK))]
    mean = np.mean(chunks, axis=0)
    value = RATING_POINTS * _strengths(mean) if campaign.design == "pairs" else mean
    _, same = np.unique(campaign.strengths, return_inverse=True)
    return (np.bincount(same, value) / np.bincount(same))[same]  # equal systems are equal


def population(campaign: Campaign) -> Campaign:
    """The campaign without what does not matter to its truth, so that one truth serves many campaigns."""
    d = Campaign()
    return replace(
        campaign,
        **{name: getattr(d, name) for name in ("contexts", "annotators", "k", "pairs", "load", "topics", "apart")},
        design="pairs" if campaign.design == "pairs" else "outputs",
    )


def _seen_by_new_people(c: Campaign, n: int, rng: np.random.Generator) -> tuple[People, np.ndarray]:
    """(people, what they see in each system (n, systems))"""
    people, quality = draw_people(c, n, rng), draw_quality(c, np.arange(n), rng)
    return people, people.use[:, None] * (quality + people.taste + rng.normal(0, c.opinion, quality.shape))


def _expected_scores(c: Campaign, n: int, rng: np.random.Generator) -> np.ndarray:
    """(systems,)"""
    people, seen = _seen_by_new_people(c, n, rng)
    shift = rng.normal(0, c.difficulty, n) - people.severity - people.drift * (rng.random(n) - 0.5)
    above = [_noise_below(c, seen + shift[:, None] - cut).mean(axis=0) for cut in CUTS - c.ceiling]
    return 1 + np.sum(above, axis=0)


def _expected_outcomes(c: Campaign, n: int, rng: np.random.Generator) -> np.ndarray:
    """(systems, systems) of the first against the second, each as often on the left; a tie is half a win"""
    people, seen = _seen_by_new_people(c, n, rng)
    mean = np.full((c.systems, c.systems), 0.5)
    for i, j in combinations(range(c.systems), 2):
        difference = seen[:, i] - seen[:, j]
        sides = (difference + sign * people.side + cut for sign in (1, -1) for cut in (c.tie, -c.tie))
        mean[i, j] = np.mean([_noise_below(c, x).mean() for x in sides])
        mean[j, i] = 1 - mean[i, j]
    return mean


def _strengths(expected: np.ndarray) -> np.ndarray:
    """(systems,) logits with mean 0: the Bradley-Terry model that fits each system's expected outcomes, by Newton's method."""
    n = len(expected)
    b = np.zeros(n)
    for _ in range(50):
        p = expit(b[:, None] - b[None, :])
        weight = p * (1 - p) * (1 - np.eye(n))
        slope = np.diag(weight.sum(axis=1)) - weight + 1 / n  # the last term keeps the mean at 0
        step = np.linalg.solve(slope, (expected - p).sum(axis=1))
        b = b + step
        if np.abs(step).max() < 1e-12:
            break
    return b - b.mean()
