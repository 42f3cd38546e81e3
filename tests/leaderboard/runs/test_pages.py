"""The pages of runs: what a researcher sees of a training, and what can be chosen of it."""

import csv
import io
import json
import re
from html import unescape

import pytest
from django.utils.html import escape

from annotation.models import Item, User
from leaderboard.runs import charts
from tests.leaderboard.runs.conftest import Words, judge_all

pytestmark = pytest.mark.django_db


@pytest.fixture
def alice(world, client):
    client.force_login(world.alice)
    return client


@pytest.fixture
def reported(run, report):
    """Four checkpoints that write more and more words, the last with a loss."""
    for step in (100, 200, 300):
        report(step, "w " * (step // 100))
    report(400, "w w w <b>w</b>", validation_loss=2.5)
    judge_all(run, Words())
    run.refresh_from_db()
    return run


def test_an_empty_list_says_how_to_begin(alice, world):
    page = alice.get("/c/talk/runs/").content.decode()
    assert "No runs yet" in page and 'Client("http://testserver", TOKEN).campaign("talk").run(' in page.replace("&quot;", '"')


def test_the_list_shows_verdict_curve_and_best_step(alice, reported):
    page = alice.get("/c/talk/runs/").content.decode()
    row = page[page.index("<tbody>") : page.index("</tbody>")]
    assert 'href="/c/talk/runs/lstm/"' in row and ">cannot tell yet<" in row and "Strength over 4 checkpoints" in row
    assert re.findall(r'class="num">([\d,]+)', row) == ["400", "400", "4"]
    (listed,) = alice.get("/api/campaigns/talk/runs/").json()["results"]
    assert "not above every doubt" in row and listed["warning"] == reported.warning and listed["best_known"]
    assert "lstm" not in alice.get("/c/talk/runs/?q=other").content.decode().split("<main")[1].split("Search")[0]


def test_what_is_known_of_its_judge_later_is_said_everywhere(alice, reported, used, call):
    used.gates = {"talk": [{"question": "?", "passed": False, "answer": "It prefers longer texts."}]}
    used.save()
    failed = f"Comparator {used.name} did not pass the gate: It prefers longer texts."
    doors = [
        alice.get("/c/talk/runs/lstm/").content.decode(),
        alice.get("/c/talk/runs/lstm/csv/").content.decode(),
        call("GET", "runs/").json()["results"][0]["warning"],
        call("GET", "runs/lstm/").json()["judge"]["warning"],
    ]
    assert [door.count(failed) for door in doors] == [4, 4, 1, 1] and failed not in reported.warning
    used.gates = {"talk": [{"question": "?", "passed": True, "answer": "Yes."}]}
    used.save()
    now = call("GET", "runs/lstm/").json()["judge"]["warning"]
    assert now.endswith(f"Said before: Comparator {used.name} was never asked whether it may serve here.")


def test_a_run_shows_the_numbers_of_the_api(alice, reported, call):
    page, api = alice.get("/c/talk/runs/lstm/").content.decode(), call("GET", "runs/lstm/").json()
    assert page.index(api["judge"]["warning"][:40]) < page.index('<p class="lede">')  # warnings first
    assert f"step {api['best']['step']}" in page and page.count("<figure data-plot=") == 3
    for line in api["said"][1:]:
        assert escape(line) in page
    below = [unescape(text).split("\n") for text in re.findall(r'data-said="([^"]*)"', page)]
    best = f"Diamond: the {'' if api['best_known'] else 'likeliest '}best, step {api['best']['step']}."
    assert [best in lines for lines in below] == [True, False, False] and len(api["said"]) >= 1
    for lines in below:  # a picture leaves with all that the page says of it
        assert lines[0] == f"Run lstm of talk, judged by {api['judge']['name']}, on Overall, on {api['contexts']} contexts."
        assert set(api["said"]) <= set(lines) and lines[-1].endswith(f"code {api['provenance']['code']}.")
    rows = re.findall(r'<th scope="row" class="num">(\d+)</th>\s*<td class="num">(\d+)–(\d+)–(\d+)<', page)
    points = [(p["step"], p["wins"], p["ties"], p["losses"]) for p in reversed(api["points"])]
    assert [tuple(map(int, row)) for row in rows] == points and points[0] == (400, 24, 0, 0)
    file = alice.get("/c/talk/runs/lstm/csv/")
    assert "attachment" in file["Content-Disposition"]
    table = list(csv.DictReader(io.StringIO(file.content.decode())))
    assert [int(row["wins"]) for row in table] == [p["wins"] for p in api["points"]]
    assert {(row["criterion"], row["snapshot"]) for row in table} == {(api["criterion"], api["provenance"]["snapshot"] or "")}


def test_texts_stand_side_by_side_and_as_texts(alice, reported):
    page = alice.get("/c/talk/runs/lstm/?a=100&b=400").content.decode()
    assert page.count('class="fold run-row"') == 12 == page.count("<summary><h3>Context") and page.count('run-row" open>') == 2
    assert "&lt;b&gt;w&lt;/b&gt;" in page and "<b>w</b>" not in page
    assert "equal texts" not in page and "equal texts" in alice.get("/c/talk/runs/lstm/?a=100&b=100").content.decode()
    for wrong in ("?a=150", "?a=x", "?page=9", "?a=99999999999999"):
        assert alice.get(f"/c/talk/runs/lstm/{wrong}").status_code == 404


def test_nothing_is_chosen_until_somebody_chooses(alice, reported):
    before = Item.objects.count()
    alice.get("/c/talk/runs/lstm/")
    assert Item.objects.count() == before
    page = alice.post("/c/talk/runs/lstm/choose/", {"step": 300, "board": ""}, follow=True).content.decode()
    assert "Step 300 plays as lstm." in page and Item.objects.count() > before
    assert reported.campaign.systems.filter(name="lstm").exists()


def test_people_are_asked_about_two(alice, reported):
    reported.campaign.pairwise = True
    reported.campaign.save()
    asked = {"step": 300, "beside": 100, "people": ""}
    page = alice.post("/c/talk/runs/lstm/choose/", asked, follow=True).content.decode()
    assert "12 pairs of step 300 and step 100 come next in what people are asked." in page
    pairs = Item.objects.filter(other__isnull=False).values_list("output__checkpoint__name", "other__checkpoint__name")
    assert sum(set(pair) == {"step-100", "step-300"} for pair in pairs) == 12
    before = Item.objects.count()
    alice.post("/c/talk/runs/lstm/choose/", asked)  # pressed twice
    assert Item.objects.count() == before


def test_what_cannot_be_chosen_is_said(alice, reported):
    reported.campaign.pairwise = False
    reported.campaign.save()
    page = alice.post("/c/talk/runs/lstm/choose/", {"step": 300, "beside": 100, "people": ""}, follow=True).content.decode()
    assert "asks people for no judgments of pairs" in page
    assert "no checkpoint at step 7" in alice.post("/c/talk/runs/lstm/choose/", {"step": 7}, follow=True).content.decode()


def test_a_run_before_its_first_verdict_and_one_that_is_closed(alice, run, report):
    page = alice.get("/c/talk/runs/lstm/").content.decode()
    assert "No checkpoint has been judged yet." in page and "<figure>" not in page
    report(100)
    assert "1 checkpoint waits to be judged." in alice.get("/c/talk/runs/lstm/").content.decode()
    judge_all(run, Words())
    page = alice.get("/c/talk/runs/lstm/").content.decode()
    assert (
        "after 1 checkpoint; last report less than a minute ago." in page
        and "<figure>" not in page
        and "best checkpoint" not in page
    )
    page = alice.post("/c/talk/runs/lstm/close/", follow=True).content.decode()
    assert "The run is closed." in page and 'data-live="over"' in page and "Close the run" not in page


def test_a_closed_run_is_not_called_open(alice, run, report):
    assert "no checkpoints yet" in alice.get("/c/talk/runs/").content.decode()
    alice.post("/c/talk/runs/lstm/close/")
    listed, page = (alice.get(f"/c/talk/runs/{path}").content.decode() for path in ("", "lstm/"))
    assert listed.count(">closed<") == 1 and ">open<" not in listed
    assert '<span class="badge ">closed</span>' in page and "No checkpoint has been judged yet. The run is closed." in page


def test_no_best_checkpoint_is_named_where_nearly_all_may_be_it(alice, run, report):
    for step in (100, 200, 300, 400):
        report(step, "w w")
    judge_all(run, Words())
    page = alice.get("/c/talk/runs/lstm/").content.decode()
    assert "No best checkpoint is known yet." in page and "None is known to be worse" in page
    assert "<dt>best checkpoint</dt>" not in page and "(best)" not in page and ">best<" not in page
    whole = alice.get("/api/campaigns/talk/runs/lstm/").json()
    assert whole["best"] and whole["best_known"] is False
    assert alice.get("/c/talk/runs/lstm/csv/").content.decode().count(",False,") >= 4  # best_known, in each row
    assert ">not known<" in alice.get("/c/talk/runs/").content.decode()


def test_systems_are_named_before_they_are_made(alice, reported):
    reported.campaign.pairwise = True
    reported.campaign.save()
    page = alice.get("/c/talk/runs/lstm/?a=300&b=100").content.decode()
    assert "two systems, “lstm step-100” and “lstm step-300”" in page and "In the campaign already" not in page
    for asked in ({"step": 300, "beside": 100, "people": ""}, {"step": 300, "board": ""}):
        alice.post("/c/talk/runs/lstm/choose/", asked)
    page = alice.get("/c/talk/runs/lstm/").content.decode()
    assert "In the campaign already: lstm, lstm step-100, lstm step-300." in page


def test_outsiders_see_nothing(client, run):
    client.force_login(User.objects.create_user("charlie", password="x"))
    assert {client.get(f"/c/talk/runs/{path}").status_code for path in ("", "lstm/", "lstm/csv/")} == {404}


def test_as_many_queries_for_many_runs_and_checkpoints(alice, call, reported, report, django_assert_max_num_queries):
    for n in range(5):
        call("POST", "runs/", {"name": f"r{n}"})
    with django_assert_max_num_queries(20):
        alice.get("/c/talk/runs/")
    with django_assert_max_num_queries(30):
        alice.get("/c/talk/runs/lstm/")


class TestCharts:
    def test_round_numbers_lie_around_the_values(self):
        assert charts.ticks_between(-0.7, 2.2) == [-1.0, 0.0, 1.0, 2.0, 3.0]
        assert charts.ticks_between(0, 12_000) == [0, 5000, 10000, 15000]
        assert charts.ticks_between(0.0, 0.0)[0] == 0.0 and len(charts.ticks_between(3.1, 3.1)) > 1

    def test_the_balance_is_wins_less_losses_in_points(self):
        point = {"wins": 6, "ties": 1, "losses": 3, "low": -0.1, "high": 0.7}
        assert charts.balance(point) == (30.0, -10.0, 70.0)
        assert charts.balance(point | {"wins": 0, "ties": 0, "losses": 0}) == (None, None, None)

    def test_a_line_of_strengths_says_itself(self):
        line = charts.sparkline([(100, 0.0), (200, 1.0), (300, None), (400, 0.5)])
        assert line["label"] == "Strength over 3 checkpoints: from 0.00 to 0.50, at most 1.00"
        assert line["line"] == "4.0,24.0 41.3,4.0 116.0,14.0"  # 4 units from each edge of 120 by 28; a third of 112 is 37.3
        assert charts.sparkline([(1, None)]) is None and charts.sparkline([(1, 0.0)])["label"] == "One checkpoint"

    def test_where_nobody_won_anything_zero_stands_in_the_middle(self):
        nothing = {"wins": 0, "ties": 9, "losses": 0, "low": 0.0, "high": 0.0, "validation_loss": None}
        nothing |= {"strength": 0.0, "strength_low": 0.0, "strength_high": 0.0}
        whole = {"total_steps": None, "best": None, "advice_given": [], "rules": {"previous": 2}}
        drawn = charts.of_run(whole | {"points": [{"step": 1, **nothing}, {"step": 2, **nothing}]})
        assert [chart["zero"] for chart in drawn] == [(charts.TOP + charts.BASE) / 2] * 2

    def test_a_checkpoint_without_a_loss_parts_the_line(self):
        whole = {"total_steps": 40, "best": None, "advice_given": [], "rules": {"previous": 2}}
        counts = {"wins": 0, "ties": 0, "losses": 0, "low": None, "high": None}
        strength = {"strength": 0.0, "strength_low": None, "strength_high": None}
        losses = [3.0, 2.0, None, 1.5, 1.0]
        points = [{"step": 10 * n, "validation_loss": loss, **counts, **strength} for n, loss in enumerate(losses)]
        drawn = {chart["key"]: chart for chart in charts.of_run(whole | {"points": points})}
        assert drawn.keys() == {"strength", "loss"}  # nothing was compared
        assert [len(line.split()) for line in drawn["loss"]["lines"]] == [2, 2] and len(drawn["loss"]["dots"]) == 4
        assert drawn["loss"]["values"][0][1] == "1.0" and json.dumps(drawn["loss"]["steps"])


def test_a_judges_cost_is_the_same_in_page_and_api(alice, call, reported, version):
    """Three checkpoints of 12 outputs after the first; 1,000 outputs take 1,000 / 12 times as long."""
    reported.checkpoints.update(seconds=0.6)
    api = call("GET", "runs/lstm/").json()["judge"]["cost"]
    assert (api["low"], api["high"], api["evaluations"]) == (50.0, 50.0, 3)
    chosen = {row["name"]: row for row in call("GET", "judges/costs/").json()}
    used, other = chosen[version.name], chosen["rouge-1"]
    assert used["cost"] == api and used["is_default"] and not other["is_default"]
    assert other["cost"]["low"] is None and "not known" in other["cost"]["said"]
    listed = alice.get("/c/talk/runs/").content.decode()
    assert api["said"] in listed and api["said"] in alice.get("/c/talk/runs/lstm/").content.decode()
    assert listed.count("not known: ") == 1 and " rouge-1," in listed[listed.index("not known: ") :]


def test_a_judges_cost_before_it_judged_here_is_that_of_its_architecture(alice, call, run, version):
    version.settings["architecture"] = "joint"
    version.save()
    chosen = {row["name"]: row["cost"] for row in call("GET", "judges/costs/").json()}
    assert (chosen[version.name]["low"], chosen[version.name]["high"], chosen[version.name]["evaluations"]) == (37.0, 56.0, 0)
    assert chosen[version.name]["said"] in alice.get("/c/talk/runs/").content.decode()
