"""Simulated campaigns whose contexts belong together although nobody said so: topics, and prompts under several ids. How often
is a system called better than its equal, with contexts as they are and with the groups that the default board finds?

    python -m benchmarks.validity.undeclared --n 250"""

import argparse
import sys
import time

import numpy as np
from scipy import stats

from annotation.quality.dependence import copies, plain
from benchmarks.validity.texted import Answered, Texted, draw, scenarios
from leaderboard.rating.crossed.text_groups import text_groups
from leaderboard.rating.decision import CONFIDENCE
from leaderboard.rating.people_board import PeopleBoard, Reading, components_met, read_pairs, read_scores


def read(campaign: Texted, answered: Answered, group: np.ndarray | None) -> Reading:
    """group: (contexts,)"""
    if campaign.points:
        of = answered.system, answered.context, answered.person, answered.value
        return read_scores(campaign.systems, *of, group=None if group is None else group[answered.context])
    judged = answered.first, answered.second, answered.outcome, answered.pair_context, answered.pair_person
    return read_pairs(campaign.systems, *judged, group=None if group is None else group[answered.pair_context])


def copied(campaign: Texted, answered: Answered) -> np.ndarray:
    """(contexts,) the group of copies that each becomes when answers are accepted"""
    label = np.arange(campaign.contexts)
    texts = {i: tuple(map(plain, (answered.prompts[i], *answered.outputs[i]))) for i in label.tolist()}
    for group in copies(label.tolist(), texts):
        label[group] = group[0]
    return label


def boards(campaign: Texted, answered: Answered) -> tuple[PeopleBoard, PeopleBoard, bool]:
    """(with contexts as they are, the default, are contexts grouped by their texts?)"""
    alone = read(campaign, answered, None)
    same = copied(campaign, answered)
    known = same if len(np.unique(same)) < campaign.contexts else None
    reading = alone if known is None else read(campaign, answered, known)
    moved = np.zeros((campaign.contexts, campaign.systems))
    moved[: len(reading.by_context)] = reading.by_context
    found = text_groups(moved, answered.prompts)
    if found is not None:
        reading = read(campaign, answered, components_met(found.groups, found.label, same)[found.label])
    return alone.board(), reading.board(), found is not None


def measured(campaign: Texted, seed: int) -> tuple[float, ...]:
    """(called different before, and now, share of intervals that hold the truth now, width before, and now, grouped)"""
    answered = draw(campaign, seed)
    before, now, grouped = boards(campaign, answered)
    strength, pairs = np.asarray(campaign.strengths), np.triu_indices(campaign.systems, 1)
    wrong = [bool((one.above & (strength[:, None] <= strength[None, :])).any()) for one in (before, now)]
    reach = [(stats.t.ppf((1 + CONFIDENCE) / 2, one.df) * one.se)[pairs] for one in (before, now)]
    held = float((np.abs(now.difference[pairs]) <= reach[1]).mean())  # all systems are equal
    return *wrong, held, *(float(np.median(2 * one)) for one in reach), grouped


def main(args: list[str] | None = None) -> int:
    parser = argparse.ArgumentParser(prog="python -m benchmarks.validity.undeclared", description=__doc__)
    parser.add_argument("--n", type=int, default=250, help="campaigns of each scenario (default %(default)s)")
    parser.add_argument("--seed", type=int, default=0, help="of the first campaign (default %(default)s)")
    parser.add_argument("--only", default="", help="the scenario of this name")
    asked = parser.parse_args(args)
    columns = "equal systems", "N", "ungrouped: called different", "default", "SE", "intervals that hold 0", "grouped"
    print("| " + " | ".join([*columns, "width, times", "mean width, times", "seconds"]) + " |\n|---" + "|---:" * 9 + "|")
    for name, campaign in scenarios().items():
        if asked.only not in ("", name) or campaign.judges:
            continue
        start = time.process_time()
        rows = np.array([measured(campaign, asked.seed + k) for k in range(asked.n)], dtype=float)
        before, now, held, _, _, grouped = rows.mean(axis=0)
        se, ratio = np.sqrt(max(now, 1 / asked.n) * (1 - now) / asked.n), rows[:, 4] / rows[:, 3]
        seconds = (time.process_time() - start) / asked.n
        figures = f"{before:.1%} | {now:.1%} | {se:.1%} | {held:.1%} | {grouped:.0%}"
        wider = f"{np.median(ratio):.2f} | {ratio.mean():.2f} | {seconds:.2f}"
        print(f"| {name} | {asked.n} | {figures} | {wider} |", flush=True)
    return 0


if __name__ == "__main__":
    sys.exit(main())
