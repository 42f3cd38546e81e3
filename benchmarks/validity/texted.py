"""Simulated campaigns whose contexts have texts, and judges beside the people: what is entered, and what is true.

Nothing here is imported from the product, nor from another generator. Every context is about a theme, which gives it words. A
topic is what moves some systems up and others down there. `words` says whether the two go together: "topic", the words show the
topic; "hidden", a topic moves the systems and no word shows it; "other", words form groups that have nothing to do with the
topics; "both", half of the words show the topic and half such a group; "none", every text is about something else. Copies of a
prompt share its topic and its own effect on each system. Answers come from people who use their scale in different ways."""

import random
from dataclasses import dataclass, field, fields, replace

import numpy as np

FUNCTION_WORDS = (
    "the of and to in a is that it for on was with as are be this by at from or an have not they which you were her his all "
    "there can will one has been if more when who would about out up so what their its into than them some could only other"
).split()
PREFIX = "Answer the following question briefly and politely, as an expert would answer it for a beginner:"
NAMES = ("Anna", "Boris", "Chen", "Dalia", "Emeka", "Farid", "Greta", "Hiro", "Ines", "Jonas", "Karin", "Luis", "Mona", "Nils")
CONSONANTS, VOWELS = "bcdfghklmnprstvz", "aeiou"


@dataclass(frozen=True)
class Judge:
    """r: of its scores with the worth that an output has for all people, before its errors on systems: taste, how much of the
    leaning of these very annotators it shares (1: all), and bias, what it adds to the last system."""

    r: float = 0.9
    taste: float = 0.0
    bias: float = 0.0


@dataclass(frozen=True)
class Texted:
    """strengths: (systems,), latent; k: people who see an output; points: of the scale, 0: judgments of pairs alone; pairs: so
    many judgments of pairs beside the scores; leaning, luck, prompt, topic: SDs of a person on a system, of an output, of a
    prompt on a system and of a topic on a system; moved: the share of systems that topics move; own: the share of words that
    come from a theme; short: the share of texts with five words; copies: ids of each prompt, as `copy` says ("equal",
    "spelling", "name"); fresh: each copy has outputs of its own; prefix: every text begins with the same instruction."""

    strengths: tuple[float, ...] = (0.0,) * 5
    people: int = 12
    contexts: int = 60
    k: int = 3
    points: int = 5
    pairs: int = 0
    leaning: float = 0.4
    luck: float = 0.5
    prompt: float = 0.0
    noise: float = 0.8
    topics: int = 0
    topic: float = 0.8
    moved: float = 1.0
    words: str = "none"
    own: float = 0.3
    short: float = 0.1
    prefix: bool = False
    copies: int = 1
    copy: str = "equal"
    fresh: bool = False
    judges: tuple[Judge, ...] = ()

    @property
    def systems(self) -> int:
        return len(self.strengths)


@dataclass(frozen=True)
class Answered:
    """Scores: (n,) context, system, person, value; pairs: (m,) pair_context, first, second, pair_person, outcome (+1 the first
    is better, 0 a tie); prompts: a text for each context; outputs: [context][system]; topic, source: (contexts,) what each is
    about (-1 where there are no topics), and which prompt it is a copy of; judged: (judges, contexts, systems); worth:
    (contexts, systems) for all people; a system's strength is its mean over all contexts there could be, less a constant."""

    context: np.ndarray
    system: np.ndarray
    person: np.ndarray
    value: np.ndarray
    pair_context: np.ndarray
    first: np.ndarray
    second: np.ndarray
    pair_person: np.ndarray
    outcome: np.ndarray
    prompts: list[str]
    outputs: list[list[str]] = field(repr=False)
    topic: np.ndarray
    source: np.ndarray
    judged: np.ndarray
    worth: np.ndarray


def draw(c: Texted, seed: int) -> Answered:
    rng = np.random.default_rng([seed, 4100])
    prompts = -(-c.contexts // c.copies)
    source = rng.permutation(np.arange(c.contexts) % prompts)
    topic = _topics(c, rng, prompts)
    worth = _worth(c, rng, topic, source) + rng.normal(0, 0.5, (prompts, 1))[source]  # a context may be easy for all systems
    leaning = rng.normal(0, c.leaning, (c.people, c.systems))
    texts = Writer(c, random.Random(seed))
    originals = [texts.prompt(theme, n) for n, theme in enumerate(_themes(c, rng, topic))]
    judged = [_scores_of(judge, rng, worth, leaning.mean(0)) for judge in c.judges]
    return Answered(
        *_scores(c, rng, worth, leaning),
        *_pairs(c, rng, worth, leaning),
        prompts=texts.copied(originals, source),
        outputs=texts.outputs(originals, source),
        topic=topic[source],
        source=source,
        judged=np.array(judged).reshape(len(c.judges), c.contexts, c.systems),
        worth=worth,
    )


def _topics(c: Texted, rng: np.random.Generator, prompts: int) -> np.ndarray:
    """(prompts,) topics as unequal as they are in life: the largest has some three times as many prompts as the smallest."""
    if not c.topics:
        return np.full(prompts, -1)
    share = np.linspace(3, 1, c.topics)
    return rng.choice(c.topics, size=prompts, p=share / share.sum())


def _themes(c: Texted, rng: np.random.Generator, topic: np.ndarray) -> list[tuple[int, int]]:
    """For each prompt, the two themes from which it takes its words, which are most often one."""
    apart = -1 - np.arange(len(topic))  # a theme of its own for each prompt
    other = rng.integers(100, 100 + max(c.topics, 8), len(topic))
    chosen = {"topic": (topic, topic), "other": (other, other), "both": (topic, other)}.get(c.words, (apart, apart))
    return list(zip(*(themes.tolist() for themes in chosen), strict=True))


def _worth(c: Texted, rng: np.random.Generator, topic: np.ndarray, source: np.ndarray) -> np.ndarray:
    """(contexts, systems)"""
    worth = np.asarray(c.strengths) + rng.normal(0, c.prompt, (len(topic), c.systems))
    if c.topics:
        moved = np.arange(c.systems) < round(c.moved * c.systems)
        worth = worth + (rng.normal(0, c.topic, (c.topics, c.systems)) * moved)[topic]
    luck = rng.normal(0, c.luck, (len(source) if c.fresh else len(topic), c.systems))
    return worth[source] + (luck if c.fresh else luck[source])


def _scores_of(judge: Judge, rng: np.random.Generator, worth: np.ndarray, leaning: np.ndarray) -> np.ndarray:
    """(contexts, systems) A judge's scores: noise makes the correlation r, taste and bias are errors on top of it."""
    noise = worth.std() * np.sqrt(1 / judge.r**2 - 1)
    last = np.arange(worth.shape[1]) == worth.shape[1] - 1
    return worth + rng.normal(0, noise, worth.shape) + judge.taste * leaning + judge.bias * last


def _scores(c: Texted, rng: np.random.Generator, worth: np.ndarray, leaning: np.ndarray) -> tuple[np.ndarray, ...]:
    """Each person has a zero and a stretch of their own on the scale."""
    if not c.points:
        return np.zeros(0, int), np.zeros(0, int), np.zeros(0, int), np.zeros(0)
    context, system = np.divmod(np.repeat(np.arange(c.contexts * c.systems), c.k), c.systems)
    person = _sets(rng, c.contexts * c.systems, c.k, c.people).ravel()
    zero, stretch = rng.normal(0, 0.5, c.people), np.exp(rng.normal(0, 0.2, c.people))
    seen = worth[context, system] + leaning[person, system] + rng.normal(0, c.noise, len(person))
    place = 0.5 + (seen * stretch[person] - zero[person]) / 3.4  # 0 to 1, and beyond at either end
    return context, system, person, 1.0 + np.clip(np.floor(place * c.points), 0, c.points - 1)


def _sets(rng: np.random.Generator, sets: int, size: int, of: int) -> np.ndarray:
    """(sets, size) different numbers below `of` in each row."""
    return np.argpartition(rng.random((sets, of)), size - 1, axis=1)[:, :size]


def _pairs(c: Texted, rng: np.random.Generator, worth: np.ndarray, leaning: np.ndarray) -> tuple[np.ndarray, ...]:
    """Nobody judges a pair of one context twice. Without scores, k people judge five pairs of a context, or all if those are
    fewer."""
    every = np.argwhere(np.triu(np.ones((c.systems, c.systems)), 1))  # (pairs, 2)
    few = min(5, len(every))
    if c.points:
        cell = rng.choice(c.contexts * len(every) * c.people, size=c.pairs, replace=False)
        context, pair, person = np.unravel_index(cell, (c.contexts, len(every), c.people))
    else:
        pair = np.repeat(_sets(rng, c.contexts, few, len(every)).ravel(), c.k)
        context = np.repeat(np.arange(c.contexts), few * c.k)
        person = _sets(rng, c.contexts * few, c.k, c.people).ravel()
    first, second = np.where(rng.random(len(pair)) < 0.5, every[pair].T, every[pair, ::-1].T)
    seen = [worth[context, s] + leaning[person, s] + rng.normal(0, c.noise, len(pair)) for s in (first, second)]
    gap = seen[0] - seen[1]
    return context, first, second, person, np.where(np.abs(gap) < 0.3, 0, np.sign(gap)).astype(int)


class Writer:
    """Texts of made-up words. Words of a theme and common words are drawn as in life: few are frequent, most are rare."""

    def __init__(self, c: Texted, rng: random.Random):
        self.c, self.rng = c, rng
        self.common = [self._word() for _ in range(300)]
        self.vocabularies: dict[int, list[str]] = {}

    def prompt(self, themes: tuple[int, int], number: int) -> str:
        length = 5 if self.rng.random() < self.c.short else self.rng.randint(20, 80)
        body = " ".join(self._one(themes) for _ in range(length - 1))
        text = f"{NAMES[number % len(NAMES)]} {body}."
        return f"{PREFIX} {text}" if self.c.prefix else text

    def copied(self, originals: list[str], source: np.ndarray) -> list[str]:
        """A text for each context; the first with a prompt has it unchanged."""
        before: dict[int, int] = {}
        texts = []
        for of in source.tolist():
            texts.append(self._copy(originals[of], of, before.get(of, 0)))
            before[of] = before.get(of, 0) + 1
        return texts

    def outputs(self, originals: list[str], source: np.ndarray) -> list[list[str]]:
        """Each system takes up some words of the prompt; copies have the same outputs unless they are fresh."""
        if self.c.fresh:
            return [[self._output(originals[of], s) for s in range(self.c.systems)] for of in source.tolist()]
        first = [[self._output(text, s) for s in range(self.c.systems)] for text in originals]
        return [first[of] for of in source.tolist()]

    def _output(self, prompt: str, system: int) -> str:
        words = prompt.removeprefix(PREFIX).strip(" .").split()
        taken = self.rng.sample(words, min(8, len(words)))
        added = [self._one((-1, -1)) for _ in range(self.rng.randint(5, 30))]
        return " ".join([self.common[system], *taken, *added]).capitalize() + "."

    def _copy(self, text: str, prompt: int, n: int) -> str:
        if n == 0 or self.c.copy == "equal":
            return text
        if self.c.copy == "name":
            return text.replace(NAMES[prompt % len(NAMES)], NAMES[(prompt + n) % len(NAMES)])
        spellings = (text.upper(), text.replace(" ", "  ") + "\n", text.rstrip(".") + " ?", f"\N{NO-BREAK SPACE}{text.lower()}")
        return spellings[n % len(spellings)]

    def _one(self, themes: tuple[int, int]) -> str:
        drawn = self.rng.random()
        if drawn < self.c.own:
            return self._frequent(self._vocabulary(themes[int(self.rng.random() < 0.5)]))
        return self._frequent(FUNCTION_WORDS if drawn < self.c.own + (1 - self.c.own) * 0.6 else self.common)

    def _vocabulary(self, theme: int) -> list[str]:
        if theme not in self.vocabularies:
            self.vocabularies[theme] = [self._word() for _ in range(40)]
        return self.vocabularies[theme]

    def _frequent(self, words: list[str]) -> str:
        """Zipf's law: the n-th word is n times as rare as the first; the inverse of its distribution, nearly."""
        return words[min(int(len(words) ** self.rng.random() - 1e-9), len(words) - 1)]

    def _word(self) -> str:
        return "".join(self.rng.choice(CONSONANTS) + self.rng.choice(VOWELS) for _ in range(self.rng.randint(2, 4)))


def entered(answered: Answered) -> dict[str, np.ndarray]:
    """The columns of answers alone, by their names."""
    return {each.name: getattr(answered, each.name) for each in fields(answered)[:9]}


def scenarios() -> dict[str, Texted]:
    """Equal systems, so that a statement of a difference is false."""
    base = Texted()
    topics = replace(base, topics=8, words="topic")
    copies = replace(base, copies=10, prompt=0.4)
    judged = replace(base, judges=(Judge(0.6), Judge(0.9), Judge(0.97), Judge(0.9, taste=1.0), Judge(0.9, bias=0.5)))
    return {
        "texts without topics": base,
        "8 topics in words": topics,
        "8 topics in few words": replace(topics, own=0.1),
        "8 topics in short texts": replace(topics, short=0.8),
        "8 topics behind one instruction": replace(topics, prefix=True, short=0.5),
        "8 topics that move 2 of 5 systems": replace(topics, moved=0.4),
        "8 topics beside 8 groups of words": replace(topics, words="both"),
        "8 topics no word shows": replace(topics, words="hidden"),
        "8 topics, words of others": replace(topics, words="other"),
        "3 topics in words": replace(topics, topics=3),
        "20 topics in words": replace(topics, topics=20, contexts=100),
        "8 groups of words, no topics": replace(base, words="other"),
        "one instruction, no topics": replace(base, prefix=True, short=0.8),
        "8 topics in words, pairs": replace(topics, points=0),
        "6 prompts under 10 ids": copies,
        "6 prompts under 10 ids, spelling": replace(copies, copy="spelling"),
        "6 prompts under 10 ids, a name": replace(copies, copy="name"),
        "6 prompts under 10 ids, fresh outputs": replace(copies, fresh=True, prompt=0.6),
        "6 prompts under 10 ids, pairs": replace(copies, points=0),
        "judges": judged,
        "judges, 4 people": replace(judged, people=4),
        "judges, 8 topics in words": replace(topics, judges=judged.judges),
    }


def ordered(c: Texted, step: float = 0.25) -> Texted:
    """The same campaign with systems that stand one step above another."""
    return replace(c, strengths=tuple(step * n for n in range(c.systems)))
