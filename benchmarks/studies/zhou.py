"""Zhou & Xu (2020): a comparator beside other metrics, by outputs and by systems (tables 1, 2, 5) and as what chooses settings
and checkpoints of trainings (table 3).

Trainings are our own (`runs`). Where the paper asks people about new outputs, a stand-in judges them: a comparator on another
encoder, which learnt other people's scores, of other sets, than any judge under test; or people do, in a campaign."""

from collections.abc import Mapping, Sequence
from dataclasses import replace
from functools import partial
from pathlib import Path

import numpy as np

from benchmarks.studies import people_scores, runs
from benchmarks.studies.figures import by_group, correlations
from benchmarks.studies.judged_sets import JudgedSet, kind_of, lines, read
from benchmarks.studies.runs import DIALOGUES, Dialogues, Size, dealt
from benchmarks.studies.study import Asked, Part, Result, model_digest
from benchmarks.studies.zhou_tables import tables as tables  # as every study has them
from evaluator.comparator.architectures import load
from evaluator.comparator.examples import Examples, aligned
from evaluator.comparator.settings import PAPER as RECIPE
from evaluator.comparator.settings import Settings
from evaluator.comparator.supervision.self_supervision import Origin, strong_pairs, weak_pairs
from evaluator.encoders.text_encoder import TextEncoder
from evaluator.judges.protocol import Judge, utilities
from evaluator.judges.texts import Referenced, Text, named
from evaluator.metaevaluation.comparison_scores import WAYS, Contestants, scored
from evaluator.metrics.inputs import MissingInput, Training
from evaluator.metrics.language_models import LanguageModel
from evaluator.metrics.registry import build

PAPER = "Zhou & Xu 2020, learning to compare"
HOME, STAND_IN = "dailydialog_gupta", ("usr_topical_chat", "usr_persona_chat", "grade_empathetic")
STAND_IN_RECIPE = {"weak": False, "max_length": 64, "epochs": 1, "max_tokens": 2048}  # two workers need less than 6 GiB
SAMPLE_SETS = (HOME, "usr_topical_chat", "usr_persona_chat")
SIZES = {
    "tiny": Size(groups=3, runs=2, iterations=8, checkpoints=8, width=16, watched=6, supervised=4),
    "small": Size(groups=3, runs=5, iterations=600, checkpoints=10, width=128, watched=200, supervised=40),
    "paper": Size(groups=10, runs=5, iterations=1200, checkpoints=10, width=128, watched=200, supervised=40),
}
COMPARATORS = {  # table 5; the full model is the paper's recipe, of another architecture in small
    "full model": {},
    "w/o tie option": {"ties": False},
    "w/o strong supervision": {"strong": False},
    "w/o weak supervision": {"weak": False},
    "w/o human annotation": {"human_scores": False, "human_judgments": False},
    "w/o BERT": {"from_scratch": True},
}
METRICS = {"ADEM": "adem", "Adversarial Evaluator": "discriminator-tuned", "BLEU": "bleu-234"}
EXAMPLES = (  # table 4: context, A, B, as it stands there
    ("Say,Jim,how about going for a few beers after dinner?", "I do not know about it.", "No, it is not good."),
    ("I suggest a walk over to the gym where we can meet some friends.", "That’s a good idea, ok.", "No, I do not like to."),
    ("What shall we do ? I don’t feel like sitting at home.", "We can go for a walk.", "I suggest staying at home."),
)


def unavailable(asked: Asked) -> list[tuple[str, str]]:
    if asked.sets:
        missing = [("Table 3, and weak supervision", "They need trainings, which a campaign's scores do not bring.")]
        if _both_ways(asked, asked.sets[0], {}, Path())["compared"] is None:
            missing.append(("Kappa of outputs judged in both ways", "Two people each must compare an output with four others."))
        return missing
    missing = [
        ("Stories (WritingPrompts)", "No package has the stories, nor people's scores of generated ones."),
        ("BERT-large", "No package has its weights; --encoder names yours."),
        ("20 + 20 outputs that people judge in both ways (kappa)", "A campaign that asks both ways has it: --campaign SLUG."),
    ]
    if not asked.ask:
        missing.append(("People's scores of new outputs", "They need people: --ask SLUG makes a campaign for it."))
    if not (asked.stand_in or asked.ask):
        missing.append(("Table 3, and models in tables 2 and 5", "Name an encoder for the stand-in with --stand-in, or --ask."))
    return missing


def parts(asked: Asked) -> list[Part]:
    size, tiny = SIZES[asked.preset], asked.preset == "tiny"
    sets, seeds = asked.sets or SAMPLE_SETS, range(asked.seed, asked.seed + (5 if asked.preset == "paper" else 1))
    found, data = [], {"data": asked.of_sets(HOME), "dialogues": asked.digest(DIALOGUES)} if not asked.sets else {}
    names = size.names if data else []
    slow = 0.01 if tiny else 10.0 if asked.preset == "paper" else 1.0
    for name in names:
        how = {**data, "seed": asked.seed, **vars(size), "picked": runs.PICKED, "range": runs.RANGE}
        found.append(Part(name, 2 * slow if not tiny else slow, partial(_run, asked, name), how))
    if names and asked.ask:
        how = {**data, "seed": asked.seed, "size": vars(size), "campaign": people_scores.accepted(asked.ask)}
        found.append(Part("people", 0, partial(_people, asked), how, names))
    elif names and asked.stand_in:
        how = {
            "data": asked.of_sets(*STAND_IN),
            "encoder": model_digest(asked.stand_in),
            "seed": asked.seed,
            "size": vars(size),
            "recipe": STAND_IN_RECIPE,
        }
        found.append(Part("stand-in", 25 * slow, partial(_stand_in, asked), how, names))
    if asked.sets:
        how = {"data": asked.of_sets(*sets), "judgments": asked.digest(*(f"{name}.judgments.jsonl" for name in sets))}
        found.append(Part("both-ways", 0, partial(_both_ways, asked, sets[0]), how))
    home = sets[0]
    for name in sets:
        models = {"encoder": [*map(model_digest, asked.encoder)], "causal": [*map(model_digest, asked.causal)]}
        how = {"data": asked.of_sets(name), **models, "size": vars(size)}
        needs = names if name == HOME else []
        for seed in seeds:
            for variant in _variants(asked) if name == home else ("full model",):
                judge = partial(_comparator, asked, name, variant, seed)
                label = f"{name}-{_plain(variant)}-{seed}"
                how_it = {**how, "seed": seed, "recipe": vars(_recipe(asked, variant)) | {"encoder": ""}}
                found.append(Part(label, (6 if name == home else 3) * slow, judge, how_it, needs))
        for label, metric in {**METRICS, **({"Perplexity": "perplexity"} if asked.causal else {})}.items():
            judge, cost = partial(_metric, asked, name, label, metric), 18 if metric.endswith("-tuned") else 1
            how_it = {**how, "seed": asked.seed, "max_length": _recipe(asked, "full model").max_length}
            found.append(Part(f"{name}-{_plain(label)}", cost * slow, judge, how_it, needs))
    return found


def _variants(asked: Asked) -> list[str]:
    """A campaign has no trainings, so no weak supervision to leave out; without texts by people, nothing strong either."""
    if not asked.sets:
        return list(COMPARATORS)
    human = any(read(asked.data, name).people.human.any() for name in asked.sets[:1])
    left_out = {"w/o weak supervision"} | (set() if human else {"w/o strong supervision", "w/o human annotation"})
    return [name for name in COMPARATORS if name not in left_out]


def _plain(label: str) -> str:
    return label.lower().replace("/", "").replace(" ", "-")


def _recipe(asked: Asked, variant: str) -> Settings:
    """The paper's, made smaller where the preset is not its own."""
    full = replace(Settings(**RECIPE), encoder=asked.encoder[0] if asked.encoder else "")
    if asked.preset != "paper":
        full = replace(full, architecture="utility", folds=2, epochs=2, max_length=128)
    if asked.preset == "tiny":
        full = replace(full, epochs=1, max_length=64, precision="fp32")
    return replace(full, **COMPARATORS[variant])


def _read(asked: Asked, name: str) -> JudgedSet:
    return read(asked.data, name, contexts=6 if asked.preset == "tiny" else None)


def _dialogues(asked: Asked) -> Dialogues:
    return dealt(asked.data, [text.context for text in _read(asked, HOME).texts], SIZES[asked.preset], asked.seed)


def _run(asked: Asked, name: str, found: Mapping[str, Result], place: Path) -> Result:
    return runs.trained(name, _dialogues(asked), SIZES[asked.preset], asked.seed)


def _watched(asked: Asked, found: Mapping[str, Result]) -> tuple[list[Referenced], list[str]]:
    """Outputs of each run's four checkpoints, in the order of runs, checkpoints, contexts; and "run@checkpoint" of each."""
    contexts, texts, models = _dialogues(asked).watched, [], []
    for name, run in found.items():
        for i, outputs in enumerate(run["watched"]):
            texts += [Referenced(e.context, text, e.replies) for e, text in zip(contexts, outputs, strict=True)]
            models += [f"{name}@{i}"] * len(contexts)
    return texts, models


def _runs_of(found: Mapping[str, Result]) -> dict[str, Result]:
    return {name: result for name, result in found.items() if "watched" in result and "loss" in result}


def _stand_in(asked: Asked, found: Mapping[str, Result], place: Path) -> Result:
    """{name, models: of each output, scores: that it expects of people, from 1 to 5}"""
    sets = [_read(asked, name) for name in STAND_IN]
    first = sets[0].scores[:, :1]
    scores = np.concatenate([first, *(aligned(other.scores[:, :1], first) for other in sets[1:])])
    starts = np.cumsum([0, *(len(one.texts) for one in sets)])
    pairs = [replace(p, a=p.a + int(k), b=p.b + int(k)) for one, k in zip(sets, starts) for p in one.people.pairs]
    recipe = replace(_recipe(replace(asked, preset="tiny" if asked.preset == "tiny" else "small"), "full model"), strong=False)
    recipe = replace(recipe, encoder=asked.stand_in, **STAND_IN_RECIPE)
    _fit(Examples([_plain_text(t) for one in sets for t in one.texts], pairs, scores), recipe, asked.seed, place)
    texts, models = _watched(asked, found)
    comparator = load(place)
    comparator.one_each = True
    name = f"a comparator on {Path(asked.stand_in).name}, taught by the people of {', '.join(STAND_IN)}"
    return {"name": name, "models": models, "scores": (1 + 4 * comparator.score(texts)).tolist()}


def _both_ways(asked: Asked, name: str, found: Mapping[str, Result], place: Path) -> Result:
    aspect = kind_of(asked.data, name).criteria[0]
    ratings = [row for row in lines(asked.data / f"{name}.ratings.jsonl") if row["aspect"] == aspect]
    return people_scores.both_ways(ratings, lines(asked.data / f"{name}.judgments.jsonl"))


def _people(asked: Asked, found: Mapping[str, Result], place: Path) -> Result:
    return people_scores.answered(asked.ask, *_watched(asked, found))


def _fit(examples: Examples, recipe: Settings, seed: int, place: Path) -> None:
    from evaluator.comparator.training.train import fit

    fit(examples, recipe, seed, place)


def _plain_text(text: Text) -> Text:
    return Text(text.context, text.output, **named(text))


def _supervised(asked: Asked, found: Mapping[str, Result]) -> tuple[list[Text], list[Origin]]:
    """What people answered in the supervised contexts, and what the first run of each group did at its checkpoints."""
    texts, origins = [], []
    contexts = _dialogues(asked).supervised if found else []
    for exchange in contexts:
        texts.append(Text(exchange.context, exchange.replies[0]))
        origins.append(Origin("people", human=True))
    for name, run in found.items():
        if name.endswith("-1"):
            for i, (outputs, reached) in enumerate(zip(run["supervised"], run["reached"], strict=True)):
                texts += [Text(e.context, text) for e, text in zip(contexts, outputs, strict=True)]
                origins += [Origin(name, checkpoint=str(i), reached=reached)] * len(contexts)
    return texts, origins


def _comparator(asked: Asked, name: str, variant: str, seed: int, found: Mapping[str, Result], place: Path) -> Result:
    """A comparator that learnt from a set's people, out of fold, and from what is known of who wrote what."""
    known, recipe, of_runs = _read(asked, name), _recipe(asked, variant), _runs_of(found)
    more, origins = _supervised(asked, of_runs)
    texts = [*map(_plain_text, known.texts), *more]
    origins = [*(Origin(str(s), bool(h)) for s, h in zip(known.people.systems, known.people.human)), *origins]
    scores = np.concatenate([known.scores[:, :1], np.full((len(more), 1), np.nan)])
    beside = np.arange(len(texts)) >= len(known.texts)
    pairs = [*known.people.pairs, *strong_pairs(texts, origins), *weak_pairs(texts, origins)]
    _fit(Examples(texts, pairs, scores, beside=beside), recipe, seed, place)
    comparator = load(place)
    plays = 200 if asked.preset == "tiny" else 10_000
    result = _measured(comparator, known, ("", *WAYS) if variant == "full model" else ("",), seed, plays)
    shown = [[Text((context,), output) for output in sides] for context, *sides in EXAMPLES]
    said = comparator.compare([a for a, _ in shown], [b for _, b in shown]) if hasattr(comparator, "compare") else None
    result |= {"judge": variant, "set": name, "examples": said.choices.tolist() if said else []}
    return result | _of_watched(asked, comparator, of_runs, seed, rating=variant == "full model")


def _metric(asked: Asked, name: str, label: str, metric: str, found: Mapping[str, Result], place: Path) -> Result:
    known, of_runs = _read(asked, name), _runs_of(found)
    more, origins = _supervised(asked, of_runs)
    texts = [*known.texts, *(Referenced(t.context, t.output, human=o.human) for t, o in zip(more, origins))]
    scores = [*known.scores[:, 0].tolist(), *[float("nan")] * len(more)]
    encoder = TextEncoder.load(asked.encoder[0] if asked.encoder else "")
    encoder.encoder.max_length = min(encoder.encoder.max_length, _recipe(asked, "full model").max_length)  # as comparators read
    causal = LanguageModel.causal(asked.causal[0]) if metric == "perplexity" else None
    training = Training.dealt(texts, scores, folds=_recipe(asked, "full model").folds, seed=asked.seed)
    try:
        judge = build(metric, encoder=encoder, causal=causal, training=training)
        result = _measured(judge, known, ("",), asked.seed, 0)
    except MissingInput as missing:
        return {"judge": label, "set": name, "ways": {}, "lacks": str(missing)}
    result |= {"judge": label, "set": name}
    return result | _of_watched(asked, judge, {} if metric == "perplexity" else of_runs, asked.seed, rating=False)


def _measured(judge: Judge, known: JudgedSet, ways: Sequence[str], seed: int, plays: int) -> Result:
    """{ways: {way: {level_measure: [value, low, high, p, n]}}} on the outputs that no person wrote; the way "" is the judge's
    own score."""
    people = known.people.take(np.flatnonzero(~known.people.human))
    texts = [text for text in known.texts if not text.human]
    return {"ways": {way: correlations(_scores(judge, texts, people.systems, way, seed, plays), people, seed) for way in ways}}


def _scores(judge: Judge, texts: Sequence[Text], systems: np.ndarray, way: str, seed: int, plays: int) -> np.ndarray:
    if not way:
        return utilities(judge, texts)
    return scored(way, judge, Contestants(texts, np.zeros(len(texts), dtype=bool), systems), seed, plays).scores


def _of_watched(asked: Asked, judge: Judge, of_runs: Mapping[str, Result], seed: int, rating: bool) -> Result:
    """{models: {run@checkpoint: mean utility}, utilities: of every watched output}; rating: {settings, checkpoints: {model: its
    skill rating among the last checkpoints of its group, among its run's}} too."""
    if not of_runs:
        return {}
    texts, models = _watched(asked, of_runs)
    names = np.array(models)
    if hasattr(judge, "one_each"):
        judge.one_each = True  # these are new contexts
    plain = [_plain_text(text) for text in texts]
    u = utilities(judge, plain if judge.kind == "pairwise" or hasattr(judge, "head") else texts)
    result: Result = {"models": {m: float(np.mean(u[names == m])) for m in dict.fromkeys(models)}, "utilities": u.tolist()}
    if rating:
        last = {m for m in models if m.endswith(f"@{len(runs.PICKED) - 1}")}
        fields = {
            "settings": {runs.group_of(m.partition("@")[0]): [] for m in models},
            "checkpoints": {m.partition("@")[0]: [] for m in models},
        }
        for m in dict.fromkeys(models):
            run = m.partition("@")[0]
            fields["checkpoints"][run].append(m)
            if m in last:
                fields["settings"][runs.group_of(run)].append(m)
        for kind, each in fields.items():
            result[kind] = {}
            for of in each.values():
                rows = np.flatnonzero(np.isin(names, of))
                systems = np.array([of.index(name) for name in names[rows]])
                found = _scores(judge, [plain[i] for i in rows], systems, "system rating", seed, 0)
                result[kind] |= dict(zip(of, by_group(systems, found).tolist(), strict=True))
    return result
