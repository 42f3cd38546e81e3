"""Simulated campaigns whose contexts belong together although nobody said so: topics, and prompts under several ids. How often
is a system called better than its equal, with contexts as they are, with the groups that the default board finds, and with the
true ones declared?

    python -m benchmarks.validity.undeclared --n 250

`--found` leaves out the boards with the true groups, which take a third of the time."""

import time

import numpy as np
from scipy import stats

from annotation.quality.dependence import copies, plain
from benchmarks.tables import head, options, row, share_error
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


def boards(campaign: Texted, answered: Answered, declared: bool = True) -> tuple[PeopleBoard, PeopleBoard, PeopleBoard, bool]:
    """(with contexts as they are, the default, with the true groups declared, are contexts grouped by their texts?). Not
    declared: the default in place of the third."""
    alone = read(campaign, answered, None)
    same = copied(campaign, answered)
    reading = alone if len(np.unique(same)) == campaign.contexts else read(campaign, answered, same)
    moved = np.zeros((campaign.contexts, campaign.systems))
    moved[: len(reading.by_context)] = reading.by_context
    found = text_groups(moved, answered.prompts)
    if found is not None:
        reading = read(campaign, answered, components_met(found.groups, found.label, same)[found.label])
    true = answered.topic if campaign.topics else answered.source
    named = alone if len(np.unique(true)) == campaign.contexts else read(campaign, answered, true) if declared else reading
    return alone.board(), reading.board(), named.board(), found is not None


def measured(campaign: Texted, seed: int, declared: bool = True) -> tuple[float, ...]:
    """(called different before, now, and with the true groups declared; shares of intervals that hold the truth, now and
    declared; width before, and now; grouped)"""
    answered = draw(campaign, seed)
    *made, grouped = boards(campaign, answered, declared)
    strength, pairs = np.asarray(campaign.strengths), np.triu_indices(campaign.systems, 1)
    wrong = [bool((one.above & (strength[:, None] <= strength[None, :])).any()) for one in made]
    reach = [(stats.t.ppf((1 + CONFIDENCE) / 2, one.df) * one.se)[pairs] for one in made]
    held = [float((np.abs(one.difference[pairs]) <= far).mean()) for one, far in zip(made, reach)]  # all systems are equal
    return *wrong, *held[1:], *(float(np.median(2 * one)) for one in reach[:2]), grouped


def main() -> None:
    parser = options(__doc__, 250, "the scenario of this name")
    parser.add_argument("--found", action="store_true", help="without the boards with the true groups")
    asked = parser.parse_args()
    head("equal systems", "N", "ungrouped: called different", "default", "SE", "intervals that hold 0", "grouped",
         "width, times", "mean width, times", "true groups: called different", "hold 0", "seconds")  # fmt: skip
    for name, campaign in scenarios().items():
        if asked.only not in ("", name) or campaign.judges:
            continue
        start = time.process_time()
        rows = np.array([measured(campaign, asked.seed + k, not asked.found) for k in range(asked.n)], dtype=float)
        before, now, declared, held, held_declared, _, _, grouped = rows.mean(axis=0)
        ratio, seconds = rows[:, 6] / rows[:, 5], (time.process_time() - start) / asked.n
        shares = [f"{share:.1%}" for share in (before, now, share_error(now, asked.n), held)]
        of_true = ["–", "–"] if asked.found else [f"{declared:.1%}", f"{held_declared:.1%}"]
        wider = f"{np.median(ratio):.2f}", f"{ratio.mean():.2f}"
        row(name, asked.n, *shares, f"{grouped:.0%}", *wider, *of_true, f"{seconds:.2f}")


if __name__ == "__main__":
    main()
