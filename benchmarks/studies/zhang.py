"""Zhang et al. (2021): encoders and language models beside people, by ESM, SLP and CoSim, on each criterion of each set.

As there, the reference is the original human reply, which is judged by nothing, and a correlation is Spearman's over outputs,
in percent. Tables 2 to 4 are made for the models at hand."""

from collections.abc import Mapping, Sequence
from functools import partial
from pathlib import Path

import numpy as np
from scipy.stats import spearmanr

from benchmarks.studies.judged_sets import kind_of, lines
from benchmarks.studies.study import Asked, Part, Result, Table, model_digest
from evaluator.encoders.text_encoder import KeptEncodings
from evaluator.judges.texts import Referenced
from evaluator.metrics.language_models import LanguageModel
from evaluator.metrics.registry import build

PAPER = "Zhang et al. 2021, pre-trained language models in dialogue metrics"
UNAVAILABLE = (
    ("DailyDialog-Eval", "The release does not say which output is the human one, so there is no reference."),
    (
        "RoBERTa, BERT, DeBERTa, ELECTRA, SimCSE, SBERT, DialoGPT and XLNet, large",
        "Not installed. Name yours with --encoder, --masked and --causal.",
    ),
)
SETS, ORIGINAL = ("usr_topical_chat", "usr_persona_chat"), "Original Ground Truth"
MINUTES = {"encoder": 3.0, "masked": 60.0, "causal": 15.0}  # a set, for a model of some 100M weights
METRICS = {"encoder": {"esm": "ESM", "cosim": "CoSim"}, "masked": {"slp-masked": "SLP"}, "causal": {"slp-causal": "SLP"}}
# Table 2, ESM and CoSim over all criteria; and table 3, over all three sets (so not of the two here alone).
THEIRS_BY_SET = {
    "usr_topical_chat": {"XLNet": 17.61, "DialoGPT": 11.11, "BERT": 22.17, "ELECTRA": 37.81, "SimCSE": 22.89, "SBERT": 26.22},
    "usr_persona_chat": {"XLNet": 8.47, "DialoGPT": 10.43, "BERT": 14.87, "ELECTRA": 14.20, "SimCSE": 20.61, "SBERT": 15.03},
}
THEIRS_BY_METRIC = {
    "ESM": {"XLNet": 8.57, "DialoGPT": 13.13, "BERT": 17.80, "ELECTRA": 18.45, "SimCSE": 21.68, "SBERT": 17.57},
    "SLP": {"XLNet": 10.85, "DialoGPT": 10.55, "BERT": 15.56, "ELECTRA": 6.58},
    "CoSim": {"XLNet": 11.62, "DialoGPT": 9.02, "BERT": 16.01, "ELECTRA": 22.53, "SimCSE": 19.48, "SBERT": 19.00},
}


def unavailable(asked: Asked) -> Sequence[tuple[str, str]]:
    return () if asked.sets else UNAVAILABLE


def parts(asked: Asked) -> list[Part]:
    sources = {need: list(getattr(asked, need)) for need in METRICS}
    sources["encoder"] = sources["encoder"] or [""]
    few = 4 if asked.preset == "tiny" else None
    return [
        Part(
            f"{name}-{need}-{Path(source).name or 'installed'}",
            0.02 if few else MINUTES[need],
            partial(_measured, asked, name, need, source, few),
            {"data": asked.of_sets(name), "need": need, "model": model_digest(source), "contexts": few},
        )
        for name in asked.sets or SETS
        for need, given in sources.items()
        for source in given
    ]


def _measured(
    asked: Asked, name: str, need: str, source: str, contexts: int | None, found: Mapping[str, Result], place: Path
) -> Result:
    """{model, set, metrics: {ESM: {criterion: [Spearman, p]}}, outputs, settings}"""
    texts, scores = read(asked.data, name, contexts)
    load = {"encoder": KeptEncodings.load, "masked": LanguageModel.masked, "causal": LanguageModel.causal}[need]
    model, correlations, settings = load(source), {}, {}
    for metric, label in METRICS[need].items():
        judge = build(metric, **{need: model})
        u, settings = judge.utilities(texts), {**settings, metric: dict(judge.settings)}
        correlations[label] = {criterion: _spearman(u, people) for criterion, people in scores.items()}
    return {"model": model.name, "set": name, "metrics": correlations, "outputs": len(texts), "settings": settings}


def read(data: Path, name: str, contexts: int | None = None) -> tuple[list[Referenced], dict[str, np.ndarray]]:
    """(the outputs (n,) with the original reply as their one reference, {criterion: people's means (n,)}), of the first
    contexts or of all. In a campaign what a person wrote is the original, else the references are; an output without either is
    left out. Raises SystemExit where all are."""
    rows = lines(data / f"{name}.outputs.jsonl")
    kept = list(dict.fromkeys(row["context_id"] for row in rows))[:contexts]
    rows = [row for row in rows if row["context_id"] in set(kept)]
    human = ORIGINAL if name in SETS else next(iter(kind_of(data, name).human), "")
    original = {row["context_id"]: (row["output"],) for row in rows if human and row["system"] == human}
    known = lambda row: original.get(row["context_id"]) or tuple(row.get("references", ()))
    judged = [row for row in rows if not (human and row["system"] == human) and known(row)]
    if not judged:
        raise SystemExit(f"{name} has neither references nor a system that is a person, so there is nothing to compare with.")
    texts = [Referenced(tuple(row["context"]), row["output"], known(row)) for row in judged]
    given: dict[str, dict[tuple[str, str], list[float]]] = {}
    for row in lines(data / f"{name}.ratings.jsonl"):
        given.setdefault(row["aspect"], {}).setdefault((row["context_id"], row["system"]), []).append(row["score"])
    keys = [(row["context_id"], row["system"]) for row in judged]
    mean = lambda scores: float(np.mean(scores)) if scores else np.nan
    return texts, {criterion: np.array([mean(of.get(key)) for key in keys]) for criterion, of in given.items()}


def _spearman(u: np.ndarray, people: np.ndarray) -> list[float] | None:
    """[rho, p] of the outputs that people scored; none where all of them have one score"""
    u, people = u[np.isfinite(people)], people[np.isfinite(people)]
    if len(people) < 3 or np.ptp(people) == 0 or np.ptp(u) == 0:
        return None
    found = spearmanr(u, people)
    return [float(found.statistic), float(found.pvalue)]


def tables(results: Mapping[str, Result]) -> list[Table]:
    rows = list(results.values())
    models, sets = list(dict.fromkeys(row["model"] for row in rows)), list(dict.fromkeys(row["set"] for row in rows))
    by_set = {m: [_average(rows, m, {"ESM", "CoSim"}, {s}) for s in sets] for m in models}
    by_metric = {m: [_average(rows, m, {metric}, set(sets)) for metric in THEIRS_BY_METRIC] for m in models}
    paper = [f"{m} (paper)" for m in THEIRS_BY_SET[SETS[0]]]
    theirs = [[_percent(THEIRS_BY_SET.get(s, {}).get(m.split()[0])) for s in sets] for m in paper]
    of_metric = [[_percent(THEIRS_BY_METRIC[k].get(m.split()[0])) for k in THEIRS_BY_METRIC] for m in paper]
    about = "Spearman's correlation over outputs in percent, the plain mean over criteria; the paper's rows are other models."
    found = [
        Table("Table 2: by set, ESM and CoSim", about, ["model", *sets], _rows(by_set) + _named(paper, theirs)),
        Table(
            "Table 3: by metric",
            f"{about} Ours over {', '.join(sets)}, the paper's over three sets.",
            ["model", *THEIRS_BY_METRIC],
            _rows(by_metric) + _named(paper, of_metric),
            {f"{metric}, {m}": v for m in models for metric, v in zip(THEIRS_BY_METRIC, by_metric[m]) if v is not None},
        ),
    ]
    return found + [_by_criterion([row for row in rows if row["set"] == name], name) for name in sets]


def _by_criterion(rows: Sequence[Result], name: str) -> Table:
    criteria = list(next(iter(rows[0]["metrics"].values())))
    cells = [
        [f"{metric}, {row['model']}", *(_marked(of[criterion]) for criterion in criteria)]
        for row in rows
        for metric, of in row["metrics"].items()
    ]
    about = f"{rows[0]['outputs']} outputs; * where p is above 0.05 (outputs taken as independent, as in the paper)."
    return Table(f"Table 4: by criterion, {name}", about, ["metric, model", *criteria], cells)


def _average(rows: Sequence[Result], model: str, metrics: set[str], sets: set[str]) -> float | None:
    """In percent; of what has a correlation."""
    found = [
        said[0]
        for row in rows
        if row["model"] == model and row["set"] in sets
        for metric, of in row["metrics"].items()
        if metric in metrics
        for said in of.values()
        if said is not None
    ]
    return 100 * float(np.mean(found)) if found else None


def _rows(of: Mapping[str, Sequence[float | None]]) -> list[list[str]]:
    return [[name, *map(_percent, values)] for name, values in of.items() if any(v is not None for v in values)]


def _named(names: Sequence[str], rows: Sequence[Sequence[str]]) -> list[list[str]]:
    return [[name, *row] for name, row in zip(names, rows, strict=True)]


def _percent(value: float | None) -> str:
    return "" if value is None else f"{value:.2f}"


def _marked(said: Sequence[float] | None) -> str:
    return "" if said is None else f"{100 * said[0]:.1f}{'*' if said[1] > 0.05 else ''}"
