"""Figures 1 to 3 and tables 1 to 4 of Zhao et al. (2020), its noise and rounding, with theirs beside ours."""

from collections.abc import Iterator, Mapping, Sequence

import numpy as np

from benchmarks.studies.figures import cell, numbers
from benchmarks.studies.study import Result, Table

EVALUATOR, REFERENCED, OWN, ELSEWHERE = "reference-free-tuned", "dailydialog_gupta", "dailydialog_zhao", "usr_persona_chat"
FULL, SEMI, UNREFERENCED = "ruber", "ruber-semi-supervised", "ruber-unreferenced"
THEIRS_1 = {  # Pearson, Spearman, SD on all, then without people's replies
    "adem": (0.34, 0.36, 0.51, 0.25, 0.23, 0.30),
    "adem-referenced": (0.32, 0.35, 0.52, 0.21, 0.23, 0.30),
    "adem-unreferenced": (0.26, 0.26, 0.32, 0.28, 0.27, 0.33),
    FULL: (0.37, 0.31, 0.67, 0.43, 0.41, 0.68),
    "ruber-referenced": (0.32, 0.29, 0.07, 0.12, 0.13, 0.04),
    UNREFERENCED: (0.35, 0.29, 1.32, 0.43, 0.39, 1.35),
}
THEIRS_3 = {  # Pearson, Spearman, SD
    "bleu-2": (0.31, 0.23, 0.31),
    "embedding-average": (0.25, 0.23, 0.19),
    "embedding-extrema": (0.26, 0.26, 0.23),
    "embedding-greedy": (0.25, 0.23, 0.21),
    "adem": THEIRS_1["adem"][:3],
    FULL: THEIRS_1[FULL][:3],
    SEMI: (0.43, 0.39, 0.83),
    EVALUATOR: (0.64, 0.66, 1.26),
}
THEIRS_4 = {  # (metric, learnt in DailyDialog, judges there): Pearson, Spearman
    (EVALUATOR, True): (0.69, 0.69),
    (EVALUATOR, False): (0.50, 0.47),
    (UNREFERENCED, True): (0.12, 0.17),
    (UNREFERENCED, False): (0.06, 0.06),
}
THEIRS_NOISE = {"0.1": (0.64, 0.65), "0.5": (0.61, 0.62)}  # with noise
POINTS = np.arange(1, 5.5, 0.5)  # borders of the distributions
BOTH = ("sample_pearson", "sample_spearman")
NONE = "none"  # where all outputs have one score


def tables(results: Mapping[str, Result]) -> list[Table]:
    every = [r for r in results.values() if "lacks" not in r]
    lacks = " ".join(dict.fromkeys(r["lacks"] for r in results.values() if "lacks" in r))
    measured = {(r["set"], r["metric"]): r for r in every if "set" in r}
    of = [name for name, _ in measured] or [OWN]
    own, referenced = (name if name in of else of[0] for name in (OWN, REFERENCED))  # of a campaign both are the campaign
    found = list(_distributions(measured))
    if metrics := [m for m in THEIRS_1 if (referenced, m) in measured]:
        found.append(_table_1([measured[referenced, m] for m in metrics]))
    for name in dict.fromkeys((own, referenced)):
        if rows := [measured[name, m] for m in THEIRS_3 if (name, m) in measured]:
            found.append(_table_3(rows, name, lacks))
        if semi := [measured[name, m] for m in (UNREFERENCED, SEMI) if (name, m) in measured]:
            theirs = {UNREFERENCED: (0.37, 0.31), SEMI: (0.45, 0.41)}
            rows_2 = [[r["metric"], *_both(r["all"]), *numbers(theirs[r["metric"]], digits=2)] for r in semi]
            about = f"{semi[0]['all']['outputs']} outputs, out of fold. The paper's are of full RUBER."
            header = ["metric", "Pearson", "Spearman", "Pearson (paper)", "Spearman (paper)"]
            found.append(Table(f"Table 2: people's scores after the next utterance, {name}", about, header, rows_2))
    if moved := [r for r in every if "to" in r]:
        found.append(_table_4(moved))
    if few := [r for r in every if "asked" in r]:
        found.append(_few(few, measured.get((own, EVALUATOR)), own))
    if evaluated := measured.get((own, EVALUATOR)):
        found.append(_robust(evaluated, [r for r in every if "sigma" in r]))
    return found


def _distributions(measured: Mapping[tuple[str, str], Result]) -> Iterator[Table]:
    """Figures 1(a) and 3: how many outputs get which score; a figure for each."""
    for (name, metric), r in measured.items():
        if metric not in (EVALUATOR, "adem", FULL):
            continue
        for label, values in {**({"people": r["people"]} if metric == EVALUATOR else {}), metric: r["utilities"]}.items():
            counts = np.histogram(np.clip(values, 1, 5), POINTS)[0]
            bars = {f"{low:g} to {low + 0.5:g}": float(count) for low, count in zip(POINTS, counts)}
            which = "Figure 1(a)" if label == "people" and name == OWN else "Figure 3"
            about = f"Outputs by score from 1 to 5, all {len(values)} of the set."
            rows = [[band, f"{count:g}"] for band, count in bars.items()]
            yield Table(f"{which}: {label}, {name}", about, ["score", "outputs"], rows, bars)


def _table_1(rows: Sequence[Result]) -> Table:
    cells = [
        [r["metric"], *_with_sd(r["all"]), *_with_sd(r["without_people"]), *numbers(THEIRS_1[r["metric"]], 6, 2)] for r in rows
    ]
    sds = (f"{rows[0][label]['people_sd']:.2f}" for label in ("all", "without_people"))
    cells.append(["people", "", "", next(sds), "", "", next(sds), "", "", "1.42", "", "", "1.40"])
    short = ["Pearson", "Spearman", "SD"]
    header = ["metric", *short, *(f"{s}, no people's" for s in short)]
    header += [f"{s} (paper)" for s in header[1:]]
    about = f"{rows[0]['all']['outputs']} outputs, and {rows[0]['without_people']['outputs']} without people's replies, each"
    about += " beside the person's; out of fold." if rows[0]["set"] == REFERENCED else " beside its references; out of fold."
    return Table(f"Table 1: referenced and not, {rows[0]['set']}", about, header, cells)


def _table_3(rows: Sequence[Result], name: str, lacks: str) -> Table:
    cells = [[r["metric"], *_with_sd(r["all"]), *numbers(THEIRS_3[r["metric"]], 3, 2)] for r in rows]
    cells.append(["people", "", "", f"{rows[0]['all']['people_sd']:.2f}", "", "", "1.42"])
    header = ["metric", "Pearson", "Spearman", "SD", "Pearson (paper)", "Spearman (paper)", "SD (paper)"]
    about = f"{rows[0]['all']['outputs']} outputs, out of fold. Semi-supervised is unreferenced, in the paper's row too."
    about += f" {lacks}" if lacks else ""
    return Table(f"Table 3: all metrics, {name}", about, header, cells)


def _table_4(moved: Sequence[Result]) -> Table:
    rows = []
    for r in moved:
        theirs = THEIRS_4.get((r["metric"], r["from"] == OWN))
        rows.append([f"{r['metric']}, {r['from']} to {r['to']}", *_both(r), *numbers(theirs, digits=2)])
    about = f"Learnt from all of one set, measured on the other. {ELSEWHERE} stands for the paper's PersonaChat."
    return Table(
        "Table 4: in another set", about, ["metric", "Pearson", "Spearman", "Pearson (paper)", "Spearman (paper)"], rows
    )


def _few(few: Sequence[Result], all_of: Result | None, name: str) -> Table:
    rows, bars = [], {}
    for judge in dict.fromkeys(r["judge"] for r in few):
        for asked in dict.fromkeys(r["asked"] for r in few):
            mine = [r for r in few if (r["judge"], r["asked"]) == (judge, asked)]
            if mine:
                rows.append([judge, f"{np.mean([r['outputs'] for r in mine]):.0f}", str(len(mine)), *_both(*mine)])
                if values := [r["figures"]["sample_pearson"][0] for r in mine if "sample_pearson" in r["figures"]]:
                    bars[f"{judge}, {rows[-1][1]}"] = float(np.mean(values))
    if all_of:
        rows.append([EVALUATOR, f"all {len(all_of['people'])}, out of fold", "1", *_both(all_of["all"])])
    about = "Whole contexts are drawn, and the outputs of all others measured. The paper: about 100 come close to 720 (0.64)."
    header = ["judge", "scored outputs", "draws", "Pearson", "Spearman"]
    return Table(f"Figure 2: few scores, {name}", about, header, rows, bars)


def _robust(own: Result, noisy: Sequence[Result]) -> Table:
    plain = [f"{own['all']['figures'][name][0]:.3f}" if name in own["all"]["figures"] else NONE for name in BOTH]
    rows = [
        ["as it is", *plain, "0.64", "0.66"],
        ["rounded to 1, 2, 3, 4, 5", *_both({"figures": own["rounded"]}), "0.65", "0.66"],
    ]
    for sigma, given in own["noise"].items():
        label = f"noise of {sigma} on what it is measured by, 100 seeds"
        rows.append([label, *(numbers(given) if given else [NONE] * 2), *numbers(THEIRS_NOISE[sigma], digits=2)])
        if mine := [r for r in noisy if str(r["sigma"]) == sigma]:
            label = f"noise of {sigma} on what it learns, {len(mine)} trainings"
            rows.append([label, *_both(*mine), *numbers(THEIRS_NOISE[sigma], digits=2)])
    if "relevance" in own:
        rows.append(["people's Relevance", *_both({"figures": own["relevance"]}), "0.68", "0.67"])
    about = f"{EVALUATOR}, out of fold. The paper does not say whether its noise is learnt or measured by: both are here."
    header = ["change", "Pearson", "Spearman", "Pearson (paper)", "Spearman (paper)"]
    return Table(f"Appendix D and 6.3: noise, rounding, relevance, {own['set']}", about, header, rows)


def _both(*of: Result) -> list[str]:
    """Where all outputs have one score there is no correlation: `NONE`, or of how many draws there is one."""
    found = []
    for name in BOTH:
        known = [r["figures"][name] for r in of if r["figures"].get(name)]
        some = f", of {len(known)} of {len(of)}" if 0 < len(known) < len(of) else ""
        found.append(cell(known) + some if known else NONE)
    return found


def _with_sd(of: Result) -> list[str]:
    return [*_both(of), f"{of['sd']:.2f}"]
