"""evaluate_judges sets judges beside people: what it prints and writes, and what it refuses."""

import copy
import csv
import io
import json
import random
import re
import shlex
import sys
from io import StringIO

import numpy as np
import pytest
from django.core.management import CommandError, call_command
from django.urls import reverse

from annotation.data.importer import import_scores
from annotation.models import User
from evaluator import tasks
from evaluator.judge_tables import exports
from evaluator.judge_tables.cautions import FOLDS, as_of_now
from evaluator.metaevaluation.judges_table import CEILING, CONSTANT, LONGER, JudgeAnswers
from evaluator.trainings import services
from evaluator.versions.registry import gate_doubt
from evaluator.views.judges import key_of
from tests.evaluator.fixtures import rows_for_a_module
from tests.evaluator.judges.rude_server import RudeServer
from tests.evaluator.judges.stub_server import Server
from tests.evaluator.world import SCORES, World, command, recipe, write

pytestmark = [pytest.mark.django_db, pytest.mark.one_database]


@pytest.fixture(autouse=True)
def environment(monkeypatch):
    monkeypatch.setenv("COMPARENA_DEVICE", "cpu")
    lengths = lambda known, name, *_: JudgeAnswers(name, np.array([len(text.output) % 7 for text in known.texts]))
    monkeypatch.setattr("evaluator.worker.judge_tables.candidates.METRICS", ["cosim"])
    monkeypatch.setattr("evaluator.worker.judge_tables.candidates._metric", lengths)


@pytest.fixture(scope="module")
def made_crowd(django_db_setup, django_db_blocker, tmp_path_factory):
    """Five people who score the same outputs, each with slips of one point."""
    with rows_for_a_module(django_db_blocker):
        with django_db_blocker.unblock():
            made = _crowd(tmp_path_factory.mktemp("crowd"))
        yield made


def _crowd(folder) -> World:
    world, rng = World(folder, slug="crowd", judged=False), random.Random(0)
    rows = [
        {
            "context_id": row["context_id"],
            "system": row["system"],
            "aspect": "Overall",
            "annotator": annotator,
            "score": min(5, max(1, SCORES[row["system"]] + rng.choice([-1, 0, 0, 1]))),
        }
        for row in world.rows
        for annotator in ("Ann", "Bob", "Cleo", "Dan", "Eve")
    ]
    import_scores(world.campaign, write(folder, "crowd.jsonl", rows))
    world.freeze()
    imported = [{"context_id": r["context_id"], "system": r["system"], "score": SCORES[r["system"]]} for r in world.rows]
    command("import_judge_scores", "crowd", write(folder, "elsewhere.jsonl", imported), "--judge", "elsewhere")
    return world


@pytest.fixture
def crowd(made_crowd, db) -> World:
    return copy.deepcopy(made_crowd)


def program(code: str) -> str:
    return shlex.join([sys.executable, "-c", "import json, sys\nfor line in sys.stdin:\n row = json.loads(line)\n " + code])


def test_the_table_of_a_campaign(crowd, tmp_path):
    snapshot = crowd.campaign.snapshots.get()
    good = program('print(json.dumps({"id": row["id"], "score": int("good" in row["output"])}))')
    said = command(
        *("evaluate_judges", "crowd", "--judge-command", good, "--annotators", "expert", "--seed", "3"),
        *("--csv", tmp_path / "table.csv", "--latex", tmp_path / "table.tex"),
    )
    assert (said["snapshot"], said["digest"], said["criterion"]) == (snapshot.name, snapshot.digest, "Overall")
    assert (said["seed"], said["annotators"], said["simulated"]) == (3, "expert", False)
    rows = {row["name"]: row for row in said["tables"]["all"]["rows"]}
    assert set(rows) == {CEILING, CONSTANT, LONGER, "cosim", "elsewhere", "program"}
    best = rows["elsewhere"]
    assert best["outputs"] == 48 and best["correlations"]["sample_pearson"]["value"] > 0.9
    assert best["alternative"]["epsilon"] == 0.2 and best["alternative"]["winning_rate"] == 1.0
    assert rows["program"]["correlations"]["sample_pearson"]["value"] > 0.6 and rows["program"]["seconds"] > 0
    assert rows["cosim"]["alternative"]["winning_rate"] == 0
    assert [row["outputs"] for row in said["tables"]["without_human"]["rows"]] == [36] * 6
    assert said["without"] == [{"judge": "comparator", "why": "this campaign has no comparator in use"}]
    with (tmp_path / "table.csv").open() as file:
        table = {(row["scope"], row["judge"]): row for row in csv.DictReader(file)}
    assert float(table["all", "elsewhere"]["sample_pearson"]) == best["correlations"]["sample_pearson"]["value"]
    assert (
        table["all", "elsewhere"]["snapshot"] == snapshot.name and len(table) == 12 + 2
    )  # all judges together, in both scopes
    tex = (tmp_path / "table.tex").read_text()
    assert tex.count(r"\begin{tabular}") == 4 and "noise 0.5 & rounded" in tex
    assert re.search(r"elsewhere & [\d,]+ \(>= [\d,]+\) & 48 & 100\\%", tex) and snapshot.name in tex


def test_intervals_say_what_they_are_over_and_of_whom_they_speak(crowd, client):
    """Five people are enough to speak of others (four are); of three people, these alone."""
    command("evaluate_judges", "crowd", "--judge", "elsewhere", "--page")
    record = crowd.campaign.judges_tables.get().record
    whom = "95% intervals over annotators and contexts, of a group all together; for people like these 5 annotators"
    client.force_login(User.objects.create_superuser("root"))
    page = client.get(reverse("judges", args=["crowd"])).content.decode()
    for said in (exports.as_text(record), exports.as_csv(record), exports.as_latex(record).replace(r"\%", "%"), page):
        assert whom in said
    for table in record["tables"].values():
        for row in filter(None, (row["accuracy"] for row in table["rows"])):
            row |= {"population": "annotators", "annotators": 3}
    assert "contexts, of a group all together; for these 3 annotators only" in exports.as_text(record)


def test_a_judge_and_its_own_systems(crowd, tmp_path, client):
    """`elsewhere` gives every system what people give it on average; the program gives Poor, its own, the most."""
    partial = program('print(json.dumps({"id": row["id"], "score": 9 if "bad" in row["output"] else 1}))')
    own = ("--own", "elsewhere=Poor", "--own", "program=Poor")
    command(
        *("evaluate_judges", "crowd", "--judge-command", partial, "--judge", "elsewhere", "--judge", "program"),
        *(*own, "--csv", tmp_path / "table.csv", "--latex", tmp_path / "table.tex", "--page"),
    )
    record = crowd.campaign.judges_tables.get().record
    found = {row["name"]: row["own"] for row in record["tables"]["all"]["rows"]}
    fair, partial = found["elsewhere"], found["program"]
    assert found[LONGER] is None and fair["of"] == "scores" and abs(fair["favour"]) < 0.5
    assert partial["people"] == fair["people"] < -2 and partial["favour"] > 2 and partial["low"] > 0
    with (tmp_path / "table.csv").open() as file:
        rows = {(row["scope"], row["judge"]): row for row in csv.DictReader(file)}
    assert float(rows["all", "program"]["own_favour"]) == partial["favour"] and not rows["all", LONGER]["own_favour"]
    assert " ".join(own) in exports.again(record) and "preference for its own +" in (tmp_path / "table.tex").read_text()
    doubted = record | {"simulated": True, "warning": "The scores of Good_1 are not accepted."}
    said = "SIMULATED: a program made these judgments."
    assert {row["warnings"] for row in csv.DictReader(io.StringIO(exports.as_csv(doubted)))} == {f"{said} {doubted['warning']}"}
    assert rf"\footnotesize {said}" in exports.as_latex(doubted) and r"Good\_1 are not accepted." in exports.as_latex(doubted)
    assert said in exports.as_text(doubted) and not exports.cautions(record) and said not in exports.as_latex(record)
    client.force_login(User.objects.create_superuser("root"))
    for page in (reverse("judges", args=["crowd"]), reverse("judge", args=["crowd", key_of("program")])):
        assert "preference for its own +" in client.get(page).content.decode()


def test_a_reason_is_given_once():
    lacks = lambda name: f"The metric {name!r} can judge none of these 48 outputs: it needs references"
    without = [{"judge": name, "why": lacks(name)} for name in ("bleu-1", "bleu-2")] + [{"judge": "other", "why": "is absent"}]
    assert exports.absent({"without": without}) == {
        "The metric can judge none of these 48 outputs: it needs references": ["bleu-1", "bleu-2"],
        "is absent": ["other"],
    }


def test_coverage_is_of_the_pairs_that_judges_can_read():
    rows = [
        {"kind": kind, "outputs": 0, "pairs": pairs} for kind, pairs in [("ceiling", 900), ("baseline", 300), ("judge", 150)]
    ]
    assert [exports.coverage(row, rows) for row in rows] == [None, 1.0, 0.5]


@pytest.mark.parametrize(
    "own, why",
    [
        ("elsewhere", "write JUDGE=SYSTEM"),
        ("nobody=Poor", "there is no judge 'nobody' here"),
        ("elsewhere=Nothing", "No output of 'Nothing' was judged here; the systems are: Fine, Person, Plain, Poor."),
    ],
)
def test_own_systems_that_are_not_there(crowd, own, why):
    with pytest.raises(CommandError, match=why):
        command("evaluate_judges", "crowd", "--judge", "elsewhere", "--own", own)


def test_what_it_prints(crowd):
    out = StringIO()
    call_command("evaluate_judges", "crowd", "--judge", "elsewhere", "--judge", "cosim", stdout=out)
    text = out.getvalue()
    assert "All outputs" in text and "Without outputs that people wrote" in text
    assert "elsewhere agrees more than cosim, by 0." in text and "0.67 of 3 *" in text
    name = crowd.campaign.snapshots.get().name
    again = f"manage.py evaluate_judges crowd --snapshot {name} --criterion Overall --annotators crowd --seed 0"
    assert f"To reproduce: {again} --judge elsewhere --judge cosim" in text and "comparator" not in text


def test_the_same_again_is_the_same(crowd):
    first, second = (command("evaluate_judges", "crowd", "--judge", "elsewhere", "--seed", "5") for _ in range(2))
    for said in (first, second):
        for table in said["tables"].values():
            assert [row.pop("seconds") is None for row in table["rows"]].count(False) == 1
    assert first == second


def test_the_serving_comparator_judges_out_of_fold(crowd):
    run = services.start_training([crowd.campaign], foreground=True, recipe=recipe())
    version = tasks.run(run.job_id)
    said = command("evaluate_judges", "crowd", "--judge", f"comparator {version.name}")
    row = next(row for row in said["tables"]["all"]["rows"] if row["kind"] == "judge")
    assert row["settings"]["version"] == version.name and row["outputs"] == 48 and row["lacks"] == ""
    doubt = gate_doubt(version, crowd.campaign)  # of 12 contexts and one epoch or two no gate is passed
    assert doubt and said["cautions"] == [doubt] and doubt in exports.as_text(said)
    assert row["accuracy"]["value"] == pytest.approx(version.metrics["heldout_pairwise_accuracy"], abs=1e-6)


@pytest.mark.parametrize("architecture", ["utility", "joint"])
def test_a_comparators_comparisons_as_scores_in_three_ways(crowd, architecture):
    chosen = recipe(architecture=architecture, epochs=1)
    version = tasks.run(services.start_training([crowd.campaign], foreground=True, recipe=chosen).job_id)
    names = [f"comparator {version.name}, {way}" for way in ("points", "sample rating", "system rating")]
    asked = [word for name in names for word in ("--judge", name)]
    out = StringIO()
    call_command("evaluate_judges", "crowd", "--ways", *asked, stdout=out)
    said = out.getvalue()
    assert f"To reproduce: manage.py evaluate_judges crowd --snapshot {crowd.campaign.snapshots.get().name}" in said
    assert said.rstrip().endswith("--ways")
    # 36 machine-written outputs are all references, and the 12 of people meet them too: 36 * 35 + 12 * 36 games.
    read = "48 outputs were read" if architecture == "utility" else "pairs in both orders were read"
    assert f"{names[0]}: 1,692 games, for which " in said and read in said
    assert f"{names[1]}: 10,000 games, for which " in said
    rows = {row["name"]: row for row in command("evaluate_judges", "crowd", "--ways", *asked)["tables"]["all"]["rows"]}
    assert all(rows[name]["outputs"] == 48 and "system_pearson" in rows[name]["correlations"] for name in names)


def test_a_pairwise_program(world):
    pairs = [(f"c{c:02}", "Fine", "Poor", who, "A" if c % 4 else "tie") for c in range(12) for who in ("Ann", "Bob", "Cleo")]
    world.judge(pairs)
    world.freeze()
    good = program(
        'a, b = ("good" in row[side] for side in ("output_a", "output_b"))\n '
        'print(json.dumps({"id": row["id"], "a": float(a > b), "tie": float(a == b), "b": float(b > a)}))'
    )
    said = command("evaluate_judges", "talk", "--pair-judge-command", good, "--judge", "pair program")
    row = next(row for row in said["tables"]["all"]["rows"] if row["name"] == "pair program")
    assert row["accuracy"]["value"] > 0.8 and row["pairs"] > 12 and row["three_way"] < 1


def test_what_it_refuses(crowd):
    with pytest.raises(CommandError, match="There is no judge 'gpt' here; there are: comparator, cosim, elsewhere"):
        command("evaluate_judges", "crowd", "--judge", "gpt")
    with pytest.raises(CommandError, match="There is no campaign 'nowhere'"):
        command("evaluate_judges", "nowhere")
    with pytest.raises(CommandError, match="no scores for the criterion 'Wit'"):
        command("evaluate_judges", "crowd", "--criterion", "Wit")
    with pytest.raises(CommandError, match="field 'score': is missing"):
        wrong = program('print(json.dumps({"id": row["id"]}))')
        command("evaluate_judges", "crowd", "--judge-command", wrong, "--judge", "program")


def test_before_anything_is_accepted(tmp_path, client):
    World(tmp_path, client, slug="empty", judged=False)
    with pytest.raises(CommandError, match="'empty' has no accepted judgments yet"):
        command("evaluate_judges", "empty")


class TestALanguageModel:
    @pytest.fixture
    def server(self):
        server = Server()
        yield server
        server.close()

    def words(self, server, *more):
        return ("evaluate_judges", "crowd", "--language-model", "tiny", "--url", server.url, "--judge", "tiny", *more)

    def test_it_is_a_row_of_the_table(self, crowd, server, tmp_path, monkeypatch):
        monkeypatch.setenv("COMPARENA_JUDGE_API_KEY", "sk-secret")
        crowd.campaign.guidelines = "Be *kind*."
        crowd.campaign.save()
        criterion = crowd.campaign.criteria.get(name="Overall")
        criterion.description, criterion.high_label = "How good it is.", "perfect"
        criterion.save()
        replies = ("--pairs", "20", "--price", "1", "2")
        forecast = command(*self.words(server, *replies, "--forecast"))
        assert forecast["calls"] == 40 and forecast["cost"] > 0 and server.requests == []
        said = command(*self.words(server, *replies, "--calls", "40"))
        row = next(row for row in said["tables"]["all"]["rows"] if row["name"] == "tiny")
        assert row["pairs"] == 20 and row["lacks"] == "it read 20 of the 72 pairs that people judged"
        assert row["accuracy"]["value"] > 0.7 and row["settings"]["calls"] == 40 and row["settings"]["cost"] > 0
        assert "sk-secret" not in json.dumps(said) and server.headers[0][1] == "Bearer sk-secret"
        asked = server.requests[0]["messages"][1]["content"]
        assert all(part in asked for part in ("Be *kind*.", "Overall: How good it is. 5 means perfect"))
        assert command(*self.words(server, *replies, "--calls", "0"))["tables"]["all"]["rows"][1]["pairs"] in (20, 72)
        assert len(server.requests) == 40

    def test_the_same_again_is_named(self, crowd, server, tmp_path):
        out = StringIO()
        words = self.words(server, "--pairs", "3", "--calls", "6")
        call_command(*words, stdout=out)
        again = out.getvalue().rsplit("To reproduce: ", 1)[1]
        assert f"--snapshot {crowd.campaign.snapshots.get().name} --criterion Overall" in again
        assert f"--judge tiny --language-model tiny --url {server.url} --calls 6 --pairs 3" in again

    def test_pairs_that_it_refuses_end_no_table_and_the_row_says_why(self, crowd):
        """Texts of the system Poor, which have the word "bad", are filtered."""
        filtered = lambda number, body: (
            "filtered_error" if "bad" in body["messages"][-1]["content"].rsplit("{", 1)[1] else "plain"
        )
        spell = lambda choice, body: {"answer": {"A": "A", "tie": "C", "B": "B"}[choice]}
        with RudeServer(filtered, spell=spell) as rude:
            words = ("evaluate_judges", "crowd", "--language-model", "tiny", "--url", rude.url, "--calls", "1000")
            with pytest.raises(CommandError, match="judged 36 of 72 pairs; 36 stay unjudged, more than 5%"):
                command(*words)
            found = command(*words, "--unjudged", "0.5")
        row = next(row for row in found["tables"]["all"]["rows"] if row["name"] == "tiny")
        assert "it read 36 of the 72 pairs that people judged; it was asked about 72" in row["lacks"]
        assert "Poor (36)" in row["lacks"] and row["pairs"] == 36
        assert "not judged, The language model's server refused the request with status 400" in exports.took(row)

    def test_what_it_refuses(self, crowd, server, tmp_path):
        with pytest.raises(CommandError, match="Set the maximum number of requests with --calls"):
            command(*self.words(server))
        with pytest.raises(CommandError, match="give --url, including /v1"):
            command("evaluate_judges", "crowd", "--language-model", "tiny", "--calls", "3")
        with pytest.raises(CommandError, match="The budget of 3 calls is spent"):
            command(*self.words(server, "--calls", "3"))
        with pytest.raises(CommandError, match="has no snapshot 'old'"):
            command("evaluate_judges", "crowd", "--snapshot", "old")


def test_judges_that_can_be_asked_again_are_attacked(crowd, tmp_path):
    """Good means the word good: a program that looks for it keeps shuffled answers apart from nothing, and is never fooled by
    other contexts' stock phrases."""
    good = program('print(json.dumps({"id": row["id"], "score": int("good" in row["output"])}))')
    out = StringIO()
    call_command("evaluate_judges", "crowd", "--judge-command", good, "--attacks", "--judge", "program", "--judge", "elsewhere",
                 stdout=out)  # fmt: skip
    text = out.getvalue()
    assert "Share of good answers preferred to spoilt ones" in text
    assert "elsewhere: not attacked, only its scores of these outputs are known." in text
    said = command(
        *("evaluate_judges", "crowd", "--judge-command", good, "--attacks", "--judge", "program"),
        *("--csv", tmp_path / "table.csv", "--latex", tmp_path / "table.tex"),
    )
    (found,) = said["attacks"]
    share = {(one["attack"], one["other_words"]): one["share"] for one in found["attacks"]}
    assert min(share["generic", False], share["off-topic", True]) > 0.95  # none holds the word; nor do one or two good answers
    assert share["shuffled", False] == 0.5  # the same words
    with (tmp_path / "table.csv").open() as file:
        rows = {row["judge"]: row for row in csv.DictReader(file)}
    few = rows["program"]  # under 17 cases are too few for a share
    assert few["attack_shuffled"] == "" and 0 < int(few["attack_shuffled_n"]) < 17 <= int(few["attack_generic_n"])
    assert rows[LONGER]["attack_shuffled_n"] == ""
    assert float(few["attack_off-topic_other_words"]) == share["off-topic", True]
    assert "preferred to spoilt ones" in (tmp_path / "table.tex").read_text()


def test_small_changes_of_scores_are_in_the_table(crowd, tmp_path):
    said = command("evaluate_judges", "crowd", "--judge", "elsewhere", "--csv", tmp_path / "table.csv")
    row = next(row for row in said["tables"]["all"]["rows"] if row["name"] == "elsewhere")
    plain = row["correlations"]["sample_pearson"]["value"]
    assert [(c["change"], c["sigma"]) for c in row["changes"]] == [("noise", 0.1), ("noise", 0.5), ("discrete", None)]
    assert plain - 0.1 < row["changes"][1]["pearson"] < plain
    with (tmp_path / "table.csv").open() as file:
        written = next(r for r in csv.DictReader(file) if r["judge"] == "elsewhere")
    assert float(written["noise0.5_pearson"]) == row["changes"][1]["pearson"] and written["discrete_spearman"]


def test_a_table_of_before_folds_kept_groups_says_so(crowd, client):
    command("evaluate_judges", "crowd", "--judge", "elsewhere", "--page")
    table = crowd.campaign.judges_tables.get()
    assert table.record.pop("units") == 12
    table.save()
    one = {"campaign": "crowd", "snapshot": table.record["snapshot"], "simulated": False, "warning": ""}
    with_transfer = table.record | {"transfer": {"campaigns": [one]}}
    assert as_of_now(table.record)["cautions"] == []  # no context has a group
    crowd.campaign.contexts.filter(key="c00").update(metadata={"conversation": "a", "turn": 1, "turns": 1})
    now = as_of_now(with_transfer)
    assert now["cautions"] == [FOLDS] and now["transfer"]["cautions"] == [f"crowd: {FOLDS}"]
    assert all(FOLDS in write(now) for write in (exports.as_text, exports.as_csv, exports.as_latex))
    assert as_of_now(table.record | {"units": 12})["cautions"] == []
    client.force_login(crowd.alice)
    assert FOLDS in client.get(reverse("judges", args=["crowd"])).content.decode()
    assert client.get("/api/campaigns/crowd/judges/").json()["table"]["cautions"] == [FOLDS]


def test_contexts_of_one_topic_are_one_unit(crowd):
    from evaluator.worker.judge_tables.material import material

    assert material(crowd.campaign).people.groups is None
    crowd.campaign.contexts.filter(key__in=["c00", "c01", "c02"]).update(group="weather")
    people = material(crowd.campaign).people
    assert len(np.unique(people.contexts)) == 12 and len(np.unique(people.units)) == 10
    said = command("evaluate_judges", "crowd", "--judge", "elsewhere")
    assert said["tables"]["all"]["rows"][0]["outputs"] == 48
