"""USR Topical-Chat (Mehri & Eskenazi 2020; ../shared/data, not part of this project): the comparator's board against
people's, and people's board from a tenth of the contexts with and without the comparator. Trains one comparator (about
15 minutes of two cores), so it is run by itself: python -m benchmarks.usr"""

from pathlib import Path

import numpy as np

from benchmarks.database import own_database

DATA = Path(__file__).resolve().parents[2] / "shared" / "data"
CRITERIA = {
    "Understandable": (0, 1),
    "Natural": (1, 3),
    "Maintains Context": (1, 3),
    "Engaging": (1, 3),
    "Uses Knowledge": (0, 1),
    "Overall": (1, 5),
}
HUMAN = ["Original Ground Truth", "New Human Generated"]
SHARE, DRAWS = 0.1, 100


def main() -> None:
    if not (DATA / "usr_topical_chat.outputs.jsonl").exists():
        return print(f"Left out: there is no USR Topical-Chat in {DATA}.")
    with own_database():
        _boards()


def _boards() -> None:
    from evaluator import tasks
    from evaluator.trainings import services
    from leaderboard import tasks as playing
    from leaderboard.boards import queries
    from leaderboard.tournaments.start import start_tournament

    campaign = _campaign()
    version = tasks.run(services.start_training([campaign], criterion="Overall", seed=0, foreground=True).job_id)
    print(f"held-out accuracy {version.metrics['heldout_pairwise_accuracy']:.3f}", version.metrics["heldout_pairwise_interval"])
    judges = (("people", None), ("comparator", version), ("calibrated", version))
    boards = [playing.run(start_tournament(campaign, j, v, "Overall", foreground=True).job_id) for j, v in judges]
    for board in boards:
        shown = queries.board(board, boards[0])
        print(shown["signature"])
        for row in shown["standings"]:
            print(f"  {row['rank_low']}-{row['rank_high']} {row['system']}: {row['rating']} [{row['low']}, {row['high']}]")
        print(f"  against people's: {shown['agreement_with_people']}; {shown['calibrated']}")
    _a_tenth(boards[1])


def _campaign():
    from annotation.assessment.assess import assess
    from annotation.campaigns.lifecycle import create_campaign
    from annotation.campaigns.protocol import CriterionSpec
    from annotation.data.importer import import_outputs, import_scores

    criteria = [CriterionSpec(name, *scale) for name, scale in CRITERIA.items()]
    campaign = create_campaign(slug="usr", title="USR Topical-Chat", criteria=criteria)
    import_outputs(campaign, DATA / "usr_topical_chat.outputs.jsonl", human_systems=HUMAN)
    import_scores(campaign, DATA / "usr_topical_chat.ratings.jsonl")
    campaign.refresh_from_db()
    assess(campaign)
    return campaign


def _a_tenth(board) -> None:
    """Means over draws of contexts; the truth is people's board from all of their judgments."""
    from scipy.stats import spearmanr

    from annotation import snapshots
    from evaluator.worker import judge
    from leaderboard.rating import ranking, rules
    from leaderboard.rating.prediction_powered import calibrate
    from leaderboard.tournaments import entrants, people_games, prediction_powered, rate
    from leaderboard.tournaments.context_results import meetings

    there, rng = entrants.entrants_of(board), np.random.default_rng(0)
    verdicts = judge.verdicts(board.version, there.outputs)
    people = people_games.people_games(there, snapshots.read(board.snapshot), "Overall", 0)
    decided = lambda a, b: rate.between_systems(there, prediction_powered.decided(there, verdicts, a, b))
    imitated, everything = decided(people.first, people.second), decided(*meetings(there))
    people = rate.between_systems(there, people)
    truth, found = rules.standings(len(there.systems), people).rating, []
    for _ in range(DRAWS):
        drawn = rng.permutation(len(there.contexts))[: round(SHARE * len(there.contexts))]
        part = np.isin(people.context, drawn)
        c = calibrate(len(there.systems), people.take(part), imitated.take(part), everything, rate.draws_of(there))
        row = [c.weight, c.worth / c.judgments]
        for standings, replicates in ((c.people, c.people_replicates), (c.standings, c.replicates)):
            low, high = ranking.intervals(standings, replicates, c.contexts)
            row += [spearmanr(standings.rating, truth).statistic, np.abs(standings.rating - truth).mean(), (high - low).mean()]
        found.append(row)
    mean, error = np.mean(found, axis=0), np.std(found, axis=0) / np.sqrt(DRAWS)
    names = ["weight", "worth in judgments"] + [
        f"{what}, {who}"
        for who in ("people alone", "with the comparator")
        for what in ("Spearman with all judgments", "mean error of a rating", "width of an interval")
    ]
    for name, m, e in zip(names, mean, error):
        print(f"{SHARE:.0%} of the contexts, {name}: {m:.3f} (standard error {e:.3f})")


if __name__ == "__main__":
    main()
