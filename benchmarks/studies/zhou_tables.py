"""Tables 1 to 5 of Zhou & Xu (2020), with theirs beside ours."""

from collections.abc import Mapping, Sequence

import numpy as np

from benchmarks.studies.figures import Figures, cell, correlations, numbers
from benchmarks.studies.runs import PICKED, group_of
from benchmarks.studies.study import Result, Table
from evaluator.metaevaluation.judges_table import PeopleScores

RATING, POINTS, OWN = "our approach, skill rating", "our approach, sampled references", "our approach, its own score"
AVERAGED = {"averaged sample-level skill rating": "sample rating", "averaged reference-based score": "points"}
METRICS = ("ADEM", "Adversarial Evaluator", "BLEU", "Perplexity")
THEIRS_1 = {  # dialogue: Spearman, Pearson
    RATING: (0.473, 0.469),
    POINTS: (0.461, 0.472),
    "ADEM": (0.353, 0.341),
    "Adversarial Evaluator": (0.197, 0.182),
    "BLEU": (0.053, 0.061),
    "Perplexity": (0.024, 0.015),
}
THEIRS_2 = {
    RATING: (0.764, 0.783),
    "averaged sample-level skill rating": (0.651, 0.675),
    "averaged reference-based score": (0.634, 0.653),
    "ADEM": (0.541, 0.553),
    "Adversarial Evaluator": (0.491, 0.502),
    "BLEU": (0.217, 0.293),
    "Perplexity": (0.071, 0.083),
}
THEIRS_3 = {  # wins of 10 and mean score: settings, checkpoints
    "our approach": (8, 3.14, 9, 3.41),
    "ADEM": (5, 3.03, 6, 3.29),
    "Adversarial Evaluator": (4, 2.92, 4, 3.23),
    "BLEU": (2, 2.75, 3, 3.15),
    "Perplexity": (3, 2.77, 3, 3.11),
}
THEIRS_4 = ("A < B", "Tie", "A > B")
THEIRS_5 = {
    "full model": (0.764, 0.783),
    "w/o comparison": (0.491, 0.502),
    "w/o tie option": (0.557, 0.561),
    "w/o strong supervision": (0.697, 0.703),
    "w/o weak supervision": (0.728, 0.737),
    "w/o human annotation": (0.602, 0.609),
    "w/o BERT": (0.644, 0.662),
}
THEIR_KAPPAS = {"scored": ("scored", "0.53"), "compared": ("scored by comparing with four others", "0.76")}
LESS = {"A": "A > B", "tie": "Tie", "B": "A < B"}


def tables(results: Mapping[str, Result]) -> list[Table]:
    judges = [result for result in results.values() if "ways" in result]
    runs = {name: result for name, result in results.items() if "loss" in result}
    stand_in, found = results.get("people") or results.get("stand-in"), []
    for name in dict.fromkeys(result["set"] for result in judges):
        of_set = [result for result in judges if result["set"] == name]
        found += [_correlations(of_set, name, "sample"), _correlations(of_set, name, "system")]
    home = [result for result in judges if "models" in result]
    if stand_in and runs and home:
        found += [_models(home, runs, stand_in), _choices(home, runs, stand_in)]
    if examples := [result["examples"] for result in judges if result.get("examples") and result["judge"] == "full model"]:
        rows = [[str(i + 1), LESS[said], theirs] for i, (said, theirs) in enumerate(zip(examples[0], THEIRS_4))]
        about = "The paper's three contexts and pairs, judged by our full model of the first set and seed."
        found.append(Table("Table 4: three examples", about, ["example", "ours", "paper"], rows))
    found += [_both_ways(result) for result in results.values() if result.get("compared")]
    first = judges[0]["set"] if judges else ""
    if len(ablated := [result for result in judges if result["set"] == first]) > 1:
        found.append(_ablation(ablated, runs, stand_in))
    return found


def _both_ways(result: Result) -> Table:
    rows = []
    for name, (label, theirs) in THEIR_KAPPAS.items():
        kappa, outputs, people = result[name] or ("", "", "")
        rows.append([label, f"{kappa:.3f}" if result[name] else "", str(outputs), str(people), theirs])
    about = "Fleiss' kappa of people who judged the same outputs; the paper does not say which kappa its is, nor over how many."
    return Table("4.1: judged in both ways", about, ["how", "kappa", "outputs", "people", "kappa (paper)"], rows)


def _correlations(judges: Sequence[Result], name: str, level: str) -> Table:
    """Table 1, or 2 of systems."""
    rows, theirs = [], THEIRS_1 if level == "sample" else THEIRS_2
    ways = {RATING: "sample rating", POINTS: "points", OWN: ""} if level == "sample" else {RATING: "system rating", **AVERAGED}
    for label, judge, way in [
        *((label, "full model", way) for label, way in ways.items()),
        *((metric, metric, "") for metric in METRICS),
    ]:
        given = [r["ways"][way] for r in judges if r["judge"] == judge and way in r["ways"]]
        cells = [cell([g.get(f"{level}_{measure}") for g in given]) for measure in ("spearman", "pearson")]
        rows.append([label, *cells, *numbers(theirs.get(label))])
    n = max((g[f"{level}_pearson"][4] for r in judges for g in r["ways"].values() if f"{level}_pearson" in g), default=0)
    what = "Table 1: by outputs" if level == "sample" else "Table 2: by systems"
    about = (
        f"{n} {'outputs' if level == 'sample' else 'systems'} that no person wrote, beside people's mean scores, out of fold:"
    )
    about += " correlation, 95% interval for other contexts and people, p of none (rows taken as independent, as in the paper)."
    about += "".join(f" {r['lacks']}" for r in judges if "lacks" in r)
    header = ["metric", "Spearman", "Pearson", "Spearman (paper)", "Pearson (paper)"]
    return Table(f"{what}, {name}", about, header, rows)


def _models(home: Sequence[Result], runs: Mapping[str, Result], stand_in: Result) -> Table:
    rows = []
    for label, judge in {"our approach": "full model", **{m: m for m in METRICS[:3]}}.items():
        if mine := [r for r in home if r["judge"] == judge]:
            rows.append(
                [label, *_by_models(mine, stand_in), *numbers(THEIRS_2.get(RATING if label == "our approach" else label))]
            )
    loss = {f"{run}@{i}": -of for run in runs for i, of in enumerate(_losses(runs[run]))}
    u = np.array([loss[m] for m in stand_in["models"]])
    rows.append(["Perplexity", *_of_models(u, stand_in), *numbers(THEIRS_2["Perplexity"])])
    about = f"{len(set(stand_in['models']))} checkpoints of {len(runs)} trainings by the mean score of {_who(stand_in)}."
    header = ["metric", "Spearman", "Pearson", "Spearman (paper)", "Pearson (paper)"]
    people = "by people's scores" if "people" in stand_in else "no people"
    return Table(f"Table 2: by checkpoints, {people}", f"{about} Intervals: other contexts.", header, rows)


def _who(stand_in: Result) -> str:
    return str(stand_in["name"]) if "people" in stand_in else f"a stand-in, no people: {stand_in['name']}"


def _losses(run: Result) -> list[float]:
    """Validation losses of the four checkpoints"""
    every = len(run["loss"])
    return [run["loss"][round(share * every) - 1] for share in PICKED]


def _by_models(judges: Sequence[Result], stand_in: Result) -> list[str]:
    found = [_model_figures(np.array(r["utilities"]), stand_in) for r in judges]
    return [cell([f.get(f"system_{measure}") for f in found]) for measure in ("spearman", "pearson")]


def _of_models(u: np.ndarray, stand_in: Result) -> list[str]:
    found = _model_figures(u, stand_in)
    return [cell([found.get(f"system_{measure}")]) for measure in ("spearman", "pearson")]


def _model_figures(u: np.ndarray, stand_in: Result) -> Figures:
    _, systems = np.unique(stand_in["models"], return_inverse=True)
    contexts = np.arange(len(u)) % int((systems == 0).sum())
    nobody, scores = np.zeros(len(u), dtype=bool), np.array(stand_in["scores"])[:, None]
    return correlations(u, PeopleScores(scores, contexts, systems, nobody, np.zeros(len(u), dtype=int)), 0)


Says = Mapping[str, float]  # of a checkpoint


def _choices(home: Sequence[Result], runs: Mapping[str, Result], stand_in: Result) -> Table:
    names, scores = np.array(stand_in["models"]), np.array(stand_in["scores"])
    worth = {m: float(np.nanmean(scores[names == m])) for m in dict.fromkeys(stand_in["models"])}
    groups: dict[str, list[str]] = {}
    for run in runs:
        groups.setdefault(group_of(run), []).append(f"{run}@{len(PICKED) - 1}")
    settings, checkpoints = list(groups.values()), [[f"{run}@{i}" for i in range(len(PICKED))] for run in runs]
    rows = []
    for label, said in _says(home, runs).items():
        cells = [*_chosen([by for by, _ in said], settings, worth), *_chosen([by for _, by in said], checkpoints, worth)]
        rows.append([label, *cells, *map(str, THEIRS_3.get(label, [""] * 4))])
    for label, pick in (("the best", max), ("the mean of all", np.mean)):
        means = [f"{np.mean([pick([worth[m] for m in field]) for field in fields]):.2f}" for fields in (settings, checkpoints)]
        rows.append([label, "", means[0], "", means[1], "", "", "", ""])
    about = f"Judged by {_who(stand_in)}. A win is a choice with the highest mean score,"
    about += f" from 1 to 5. Settings: the last checkpoints of {len(settings[0])} trainings; checkpoints: four of a training."
    short = ["settings: wins", "score", "checkpoints: wins", "score"]
    header = ["metric", *short, *(f"{name} (paper)" for name in short)]
    return Table("Table 3: what each metric chooses", about, header, rows)


def _says(home: Sequence[Result], runs: Mapping[str, Result]) -> dict[str, list[tuple[Says, Says]]]:
    """{metric: of each seed what it says of settings, and of checkpoints}"""
    says: dict[str, list[tuple[Says, Says]]] = {}
    for r in home:
        if r["judge"] == "full model":
            says.setdefault("our approach", []).append((r["settings"], r["checkpoints"]))
        elif r["judge"] in METRICS:
            says.setdefault(r["judge"], []).append((r["models"], r["models"]))
    perplexity = {f"{run}@{i}": -loss for run in runs for i, loss in enumerate(_losses(runs[run]))}
    says["Perplexity"] = [(perplexity, perplexity)]
    says["the last checkpoint"] = [({}, {m: float(m.rpartition("@")[2]) for m in perplexity})]
    return says


def _chosen(says: Sequence[Says], fields: Sequence[Sequence[str]], worth: Says) -> list[str]:
    """Wins and mean score of what was chosen of each field, the mean over seeds"""
    if not all(says):
        return ["", ""]
    chosen = [[max(field, key=lambda m: said[m]) for field in fields] for said in says]
    wins = [sum(worth[m] == max(worth[o] for o in field) for m, field in zip(of, fields)) for of in chosen]
    return [f"{np.mean(wins):g} of {len(fields)}", f"{np.mean([[worth[m] for m in of] for of in chosen]):.2f}"]


def _ablation(home: Sequence[Result], runs: Mapping[str, Result], stand_in: Result | None) -> Table:
    rows = []
    for label, theirs in THEIRS_5.items():
        mine = [r for r in home if r["judge"] == ("Adversarial Evaluator" if label == "w/o comparison" else label)]
        if not mine or not all(r["ways"] for r in mine):
            continue
        cells = [
            cell([r["ways"][""].get(f"{level}_{measure}") for r in mine])
            for level, measure in (("sample", "spearman"), ("sample", "pearson"), ("system", "pearson"))
        ]
        models = _by_models(mine, stand_in) if stand_in and runs else ["", ""]
        rows.append([label, *cells, *models, *numbers(theirs)])
    about = "By a judge's own score, out of fold. Weak supervision comes from the trainings' checkpoints; without comparison:"
    about += " a discriminator whose encoder learns along, from the same texts."
    about += f" Checkpoints by {_who(stand_in)}." if stand_in else ""
    header = ["left out", "Spearman, outputs", "Pearson, outputs", "Pearson, systems", "Spearman, checkpoints",
              "Pearson, checkpoints", "Spearman, models (paper)", "Pearson, models (paper)"]  # fmt: skip
    return Table("Table 5: what each part is worth", about, header, rows)
