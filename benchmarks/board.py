"""The board with a million judgments, and a tournament of ten thousand games: on a database of its own, data made in bulk."""

import resource
import statistics
import time
from itertools import combinations

import numpy as np

from benchmarks.database import own_database

SYSTEMS, CONTEXTS, GAME_CONTEXTS = 20, 1000, 200
MANY, FEW, GAMES = 1_000_000, 1_000, 10_000
SCORES, CROWD = 100_000, 500  # scores, and annotators who gave them
PAGES = ["", "beside/", "history/", "breakdown/", "samples/"]


def main() -> None:
    with own_database(ALLOWED_HOSTS="testserver"):
        _scores()
        _pages()
        _tournament()


def _pages() -> None:
    """Server time of each page, the median of five, on a campaign with many judgments and on one with few."""
    from annotation.models import User

    admin = User.objects.create_user("admin", is_staff=True)
    few, _ = _judged(_campaign("few", CONTEXTS), FEW)
    many, took = _judged(_campaign("many", CONTEXTS), MANY)
    print(f"people's board of {MANY:,} judgments made in its job: {took:.0f} s", flush=True)
    for page in [*PAGES, "sample", "system"]:
        slow, quick = (_milliseconds(admin, board, page) for board in (many, few))
        print(
            f"page {page or 'leaderboard'}: {slow:.0f} ms with {MANY:,} judgments, {quick:.0f} ms with {FEW:,}; "
            f"{'under' if slow < 300 else 'NOT UNDER'} 300 ms",
            flush=True,
        )


def _scores() -> None:
    """Seconds and memory of people's board of many scores by a crowd, in its job."""
    from annotation.models import Annotator, Criterion, LikertScore, Output
    from annotation.snapshots import SnapshotContent

    campaign, content = _campaign("crowd", CONTEXTS), SnapshotContent(rule={"level": "ordinal"})
    criterion = Criterion.objects.create(campaign=campaign, name="Overall")
    content.criteria.append({"name": "Overall", "low": 1, "high": 5})
    crowd = Annotator.objects.bulk_create(Annotator(campaign=campaign, name=f"crowd {i}") for i in range(CROWD))
    rng = np.random.default_rng(2)
    outputs = list(Output.objects.filter(context__campaign=campaign).values_list("pk", "context__key", "system__name"))
    severity, taste = rng.normal(0, 0.5, CROWD), rng.normal(0, 0.3, (CROWD, SYSTEMS))
    quality = rng.normal(0, 0.5, len(outputs))
    rows = []
    for k in range(SCORES):
        o, who = k % len(outputs), (k + 7 * (k // len(outputs))) % CROWD
        pk, key, name = outputs[o]
        latent = 3 + int(name[-2:]) / 10 + quality[o] + severity[who] + taste[who, int(name[-2:])] + rng.normal()
        value = float(np.clip(round(latent), 1, 5))
        rows.append(LikertScore(annotator=crowd[who], output_id=pk, criterion=criterion, value=value))
        row = {"context": key, "system": name, "checkpoint": "", "sample": 0, "criterion": "Overall"}
        content.scores.append(row | {"annotator": crowd[who].name, "value": value})
    LikertScore.objects.bulk_create(rows, batch_size=2000)
    _accepted(campaign, content, criterion)
    before = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 2**20  # GiB
    del rows, content
    _, took = _played(campaign, criterion="Overall")
    memory = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 2**20
    print(
        f"people's board of {SCORES:,} scores by {CROWD} annotators made in its job: {took:.0f} s, at most {memory:.2f} GiB in "
        f"the process ({before:.2f} before it); {'under' if took < 20 and memory < 1.5 else 'NOT UNDER'} 20 s and 1.5 GiB",
        flush=True,
    )


def _milliseconds(user, board, page: str) -> float:
    from django.test import Client

    address = f"/c/{board.campaign.slug}/leaderboard/{page}"
    if page == "sample":
        address = f"/c/{board.campaign.slug}/leaderboard/samples/{board.contexts.first().context_id}/"
    if page == "system":
        address = f"/c/{board.campaign.slug}/systems/{board.ratings.first().system_id}/"
    client, times = Client(), []
    client.force_login(user)
    for _ in range(6):
        start = time.perf_counter()
        assert client.get(address).status_code == 200, address
        times.append(time.perf_counter() - start)
    return 1000 * statistics.median(times[1:])  # the first one compiles the templates


def _tournament() -> None:
    """CPU time of playing, rating and recording, the utilities of all outputs being there."""
    from annotation.models import Job, Output
    from evaluator.judges.calibration import Head
    from evaluator.judges.protocol import PointwiseVerdicts
    from evaluator.models import ComparatorVersion, TrainingRun, Utility
    from evaluator.roster import judge_of
    from evaluator.worker import comparators
    from leaderboard.tournaments import play
    from leaderboard.tournaments.start import start_tournament

    campaign, rng = _campaign("games", GAME_CONTEXTS), np.random.default_rng(0)
    run = TrainingRun.objects.create(job=Job.objects.create(task="t", title="t"))
    version = ComparatorVersion.objects.create(name="v", run=run, snapshots=[], settings={}, seed=0, code="1", metrics={})
    version.campaigns.add(campaign)
    outputs = Output.objects.filter(context__campaign=campaign).values_list("pk", "system_id")
    Utility.objects.bulk_create(Utility(version=version, output_id=pk, value=s / 10 + rng.normal()) for pk, s in outputs)
    judging = lambda version, outputs, report: PointwiseVerdicts(
        comparators.utilities(version, outputs, report), Head(1.0, 0.3, 0.5).preferences
    )
    tournament = start_tournament(campaign, "judge", judge_of(campaign, version), games=GAMES, foreground=True)
    start = time.process_time()
    played = play.play(tournament, lambda progress, message: None, judging)
    took = time.process_time() - start
    print(
        f"{played.played:,} games among {SYSTEMS} systems, outputs judged before: {took:.2f} s of CPU; "
        f"{'under' if took < 2 else 'NOT UNDER'} 2 s",
        flush=True,
    )


def _campaign(slug: str, contexts: int):
    from annotation.models import Campaign, Context, Output, System

    campaign = Campaign.objects.create(slug=slug, title=slug, pairwise=True)
    systems = System.objects.bulk_create(System(campaign=campaign, name=f"system {i:02}") for i in range(SYSTEMS))
    there = Context.objects.bulk_create(
        Context(campaign=campaign, key=f"c{i}", turns=["How are you?"], metadata={"topic": f"topic {i % 4}"})
        for i in range(contexts)
    )
    Output.objects.bulk_create(
        (Output(system=s, context=c, text=f"{s.name} on {c.key}") for c in there for s in systems), batch_size=500
    )
    return campaign


def _judged(campaign, judgments: int):
    """The campaign's board by so many judgments of pairs, and the seconds that its job took."""
    from annotation.models import Annotator, Output, PairwiseJudgment
    from annotation.snapshots import SnapshotContent

    annotators = Annotator.objects.bulk_create(Annotator(campaign=campaign, name=f"a{i}") for i in range(10))
    rng, content = np.random.default_rng(1), SnapshotContent(rule={"level": "nominal"})
    by_context: dict[str, list] = {}
    for pk, key, name in Output.objects.filter(context__campaign=campaign).values_list("pk", "context__key", "system__name"):
        by_context.setdefault(key, []).append((pk, name))
    cells = [(key, a, b) for key, there in by_context.items() for a, b in combinations(there, 2)]
    rows = []
    for k, draw in enumerate(rng.random(judgments).tolist()):
        key, (a, name_a), (b, name_b) = cells[k % len(cells)]
        chance = 0.2 + 0.6 / (1 + 10 ** ((int(name_b[-2:]) - int(name_a[-2:])) / 10))
        choice = "A" if draw < chance - 0.1 else "tie" if draw < chance + 0.1 else "B"
        annotator = annotators[k // len(cells)]
        rows.append((annotator.pk, a, b, choice))
        content.judgments.append(
            {"context": key, "a": [name_a, "", 0], "b": [name_b, "", 0], "annotator": annotator.name, "choice": choice}
        )
    for start in range(0, len(rows), 50_000):
        PairwiseJudgment.objects.bulk_create(
            (
                PairwiseJudgment(annotator_id=annotator, output_a_id=a, output_b_id=b, choice=choice)
                for annotator, a, b, choice in rows[start : start + 50_000]
            ),
            batch_size=2000,
        )
    _accepted(campaign, content)
    return _played(campaign)


def _accepted(campaign, content, criterion=None) -> None:
    """A snapshot with this content (`snapshots.SnapshotContent`)."""
    from annotation.models import QualityDecision, Snapshot
    from annotation.snapshots import write

    digest, data = write(content)
    count = len(content.scores) + len(content.judgments)
    snapshot = Snapshot.objects.create(campaign=campaign, digest=digest, content=data, rule=content.rule, judgments=count)
    QualityDecision.objects.create(snapshot=snapshot, criterion=criterion, verdict="accepted", report={})


def _played(campaign, criterion: str | None = None):
    """People's board, and the seconds that its job took."""
    from leaderboard import tasks
    from leaderboard.tournaments.start import start_tournament

    tournament = start_tournament(campaign, "people", criterion=criterion, foreground=True)
    start = time.perf_counter()
    board = tasks.run(tournament.job_id)
    return board, time.perf_counter() - start


if __name__ == "__main__":
    main()
