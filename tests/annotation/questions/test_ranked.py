"""Several outputs ranked on the annotators' page, or the best and the worst of them."""

import io
import json
import re

import pytest
from django.core.management import call_command
from django.utils import timezone

from annotation import snapshots
from annotation.annotating.assignment import next_assignment
from annotation.annotating.submissions import revise, submit
from annotation.annotating.undo import undo_last
from annotation.assessment.assess import assess
from annotation.campaigns import plan
from annotation.campaigns.items import draw_items, recount
from annotation.campaigns.known_answers import mark_known
from annotation.campaigns.lifecycle import create_campaign
from annotation.campaigns.overview import many_of
from annotation.campaigns.plan import assumed_seconds
from annotation.campaigns.protocol import change_campaign
from annotation.data.export import as_csv, as_jsonl, exported_answers
from annotation.data.importer import import_judgments, import_outputs
from annotation.models import Campaign, Item, Output, PairwiseJudgment, User
from annotation.people.accounts import add_annotator
from annotation.questions import store
from annotation.questions.ranked.kind import ranked_of
from annotation.questions.ranked.method import judged_pairs, name_of, shown_order
from core.errors import Refused
from leaderboard.archive.admission import admit
from leaderboard.archive.export import write_archive
from leaderboard.boards import queries
from tests.annotation.pages import hidden, text, write_outputs
from tests.annotation.questions.test_third_kind import DESIGN, assignment_key
from tests.leaderboard.played import by_people

pytestmark = pytest.mark.django_db
ASKED = {"slug": "ranks", "pairwise": "on", "pair_points": "3", "outputs_at_once": "5", "criteria-TOTAL_FORMS": 0}
FOUR = ("Ada", "Bea", "Cid", "Dov")
# By person, the order of FOUR on the first context and on the second; a list is a tie.
SAID = [["1234", "1123"], ["1243", "2113"], ["2134", "1132"]]


def designed(client, tmp_path, systems=FOUR, contexts=2, **more) -> Campaign:
    """Set up on the page."""
    if not User.objects.filter(username="alice").exists():
        client.force_login(User.objects.create_user("alice", may_create_campaigns=True))
    asked = {name: value for name, value in (DESIGN | ASKED | more).items() if name != "likert"}
    response = client.post("/new/", asked)
    assert response.status_code == 302, re.findall(r'class="(?:errorlist|warning)[^>]*>.*?</', text(response), re.DOTALL)
    campaign = Campaign.objects.get(slug=asked["slug"])
    import_outputs(campaign, write_outputs(tmp_path, contexts, systems))
    campaign.refresh_from_db()
    return campaign


@pytest.fixture
def campaign(tmp_path, client):
    return designed(client, tmp_path)


def everybody_ranks(campaign):
    """As SAID, whatever order each is shown."""
    for n, of_person in enumerate(SAID):
        person = add_annotator(campaign, User.objects.create_user(f"person {n}"))
        while assignment := next_assignment(person):
            ranks = of_person[int(assignment.item.context.key[1:])]
            sent = "".join(ranks[int(place)] for place in assignment.order)
            submit(person, assignment.pk, assignment_key(n, assignment.pk), {"choice": sent})


def test_own_rankings_are_listed_at_one_cost(campaign, client, django_assert_num_queries):
    """Session; user, annotator and criteria; how many; the page; the third and fourth texts of all its rankings at once;
    how many questions."""
    everybody_ranks(campaign)
    client.force_login(User.objects.get(username="person 0"))
    with django_assert_num_queries(6):
        assert text(client.get("/c/ranks/answers/")).count(">Change<") == 2


class TestMethod:
    def test_pairs_of_ranks(self):
        """1, 2, 2 by hand: the first before both, which tie; where the two were not asked, nothing of them."""
        assert list(judged_pairs([1, 2, 2])) == [(0, 1, "A"), (0, 2, "A"), (1, 2, "tie")]
        assert list(judged_pairs([3, 2, 2, 1], is_open=True)) == [
            (0, 1, "B"),
            (0, 2, "B"),
            (0, 3, "B"),
            (1, 3, "B"),
            (2, 3, "B"),
        ]

    @pytest.mark.parametrize("n", [3, 5, 7])
    def test_each_stands_everywhere_and_each_two_in_both_orders(self, n):
        orders = [shown_order(n, "seed", turn, bool(turn % 2)) for turn in range(2 * n)]
        assert {len(set(order)) for order in orders} == {n}
        assert all((order.index("1") < order.index("0")) == bool(turn % 2) for turn, order in enumerate(orders))
        for output in "0123456"[:n]:
            stood = [order.index(output) for order in orders]
            assert set(stood) == set(range(n))
        before = sum(order.index("1") < order.index("2") for order in orders)
        assert 0 < before < 2 * n
        assert orders == [shown_order(n, "seed", turn, bool(turn % 2)) for turn in range(2 * n)]


class TestAsked:
    def test_the_page_has_a_line_of_places_for_each_text(self, campaign, client):
        page = text(client.get("/c/ranks/preview/"))
        assert re.findall(r'name="choice\.(\d)" value="(\d)"', page) == [(t, p) for t in "1234" for p in "1234"]
        assert page.count('data-text="') == 4 and "Ada" not in page and 'aria-label="Text D"' in page
        assert "<kbd>1</kbd> … <kbd>4</kbd>" in page

    def test_an_answer_is_kept_as_its_pairs_in_whatever_order_it_was_shown(self, campaign):
        person = add_annotator(campaign, User.objects.create_user("bob"))
        assignment = next_assignment(person)
        shown = [output.system.name for output in assignment.shown]
        submit(person, assignment.pk, assignment_key(0, assignment.pk), {"choice": "2143"})
        best = [shown[1], shown[0], shown[3], shown[2]]
        rows = PairwiseJudgment.objects.select_related("output_a__system", "output_b__system")
        assert len(rows) == 6 and {row.detail["ranking"] for row in rows} == {name_of(FOUR)}
        for row in rows:
            a, b = row.output_a.system.name, row.output_b.system.name
            assert a < b and row.choice == ("A" if best.index(a) < best.index(b) else "B")
            assert row.shown_swapped == (shown.index(b) < shown.index(a))

    def test_an_answer_is_one_place_of_its_item_and_can_be_changed_and_undone(self, campaign):
        person = add_annotator(campaign, User.objects.create_user("bob"))
        assignment = next_assignment(person)
        submit(person, assignment.pk, assignment_key(0, 1), {"choice": "1234"})
        revise(person, assignment.pk, assignment_key(0, 2), {"choice": "1111"})
        live = PairwiseJudgment.objects.filter(retracted_at=None)
        assert {row.choice for row in live} == {"tie"} and live.count() == 6 and PairwiseJudgment.objects.count() == 12
        taken = list(Item.objects.order_by("pk").values_list("taken", "taken_swapped"))
        recount(campaign)
        assert list(Item.objects.order_by("pk").values_list("taken", "taken_swapped")) == taken
        assert sum(count for count, _ in taken) == 1
        assert undo_last(person) == assignment and not live.all().exists()
        assert next_assignment(person).order == assignment.order

    def test_without_a_script_the_form_works_and_says_what_is_missing(self, campaign, client):
        bob = User.objects.create_user("bob")
        add_annotator(campaign, bob)
        client.force_login(bob)
        page = client.get("/c/ranks/annotate/?start=1")
        filled = {"choice.1": "2", "choice.2": "1", "choice.4": "1"}
        refused = client.post("/c/ranks/annotate/", hidden(page) | filled)
        assert refused.status_code == 422 and "Give each text a place." in text(refused)
        assert re.findall(r'name="choice\.(\d)" value="(\d)" required checked', text(refused)) == [
            ("1", "2"),
            ("2", "1"),
            ("4", "1"),
        ]
        done = client.post("/c/ranks/annotate/", hidden(page) | filled | {"choice.3": "4"})
        assert done.status_code == 303 and PairwiseJudgment.objects.count() == 6
        assert "1: B, D; 2: A; 4: C" in text(client.get("/c/ranks/answers/"))

    @pytest.mark.parametrize("sent", ["", "123", "12345", "1235", "0123", "1>2", "left", "12a4"])
    def test_what_is_no_ranking_of_four_is_refused(self, campaign, sent):
        person = add_annotator(campaign, User.objects.create_user("bob"))
        assignment = next_assignment(person)
        with pytest.raises(Refused, match="Give each text a place"):
            submit(person, assignment.pk, assignment_key(0, 1), {"choice": sent})
        assert not PairwiseJudgment.objects.exists()

    def test_on_each_criterion_who_cannot_say_says_so_of_all(self, client, tmp_path):
        rows = {
            "criteria-TOTAL_FORMS": 1,
            "criteria-0-name": "Fluency",
            "criteria-0-kind": "scale",
            "criteria-0-cannot_say": "on",
        }
        rows |= {"criteria-0-low": "1", "criteria-0-high": "5", "pairwise_by_criterion": "on"}
        campaign = designed(client, tmp_path, FOUR[:3], 2, **rows)
        bob = User.objects.create_user("bob")
        add_annotator(campaign, bob)
        client.force_login(bob)
        field, page = f"choice_{campaign.criteria.get().pk}", client.get("/c/ranks/annotate/?start=1")
        assert f'name="{field}.3" value="3">' in text(page)  # not required: who cannot say fills in nothing
        both = {field: "cannot_say", f"{field}.1": "1", f"{field}.2": "2", f"{field}.3": "3"}
        assert client.post("/c/ranks/annotate/", hidden(page) | both).status_code == 422
        assert client.post("/c/ranks/annotate/", hidden(page) | {field: "cannot_say"}).status_code == 303
        rows = PairwiseJudgment.objects.values_list("cannot_say", "choice", "criterion__name").order_by().distinct()
        assert list(rows) == [(True, "", "Fluency")] and PairwiseJudgment.objects.count() == 3
        assert sum(Item.objects.values_list("taken", flat=True)) == 1
        recount(campaign)
        assert sum(Item.objects.values_list("taken", flat=True)) == 1

    def test_the_best_and_the_worst(self, client, tmp_path):
        campaign = designed(client, tmp_path, FOUR, 2, best_worst="on")
        bob = User.objects.create_user("bob")
        add_annotator(campaign, bob)
        client.force_login(bob)
        page = client.get("/c/ranks/annotate/?start=1")
        assert re.findall(r'name="choice\.(\w+)" value="4"', text(page)) == ["best", "worst"]
        same = client.post("/c/ranks/annotate/", hidden(page) | {"choice.best": "2", "choice.worst": "2"})
        assert same.status_code == 422 and "two different ones" in text(same)
        assert client.post("/c/ranks/annotate/", hidden(page) | {"choice.best": "2", "choice.worst": "4"}).status_code == 303
        assert PairwiseJudgment.objects.count() == 5 and not PairwiseJudgment.objects.filter(choice="tie").exists()
        assert "The best: B; the worst: D" in text(client.get("/c/ranks/answers/"))
        before = list(Item.objects.order_by("pk").values_list("taken", "taken_swapped"))
        recount(campaign)
        assert list(Item.objects.order_by("pk").values_list("taken", "taken_swapped")) == before

    def test_programs_take_and_send_it(self, campaign, client):
        asked = client.get("/api/campaigns/ranks/").json()
        assert (asked["outputs_at_once"], asked["best_worst"]) == (5, False)
        assert client.patch("/api/campaigns/ranks/", {"outputs_at_once": 8}, "application/json").status_code == 400
        bob = User.objects.create_user("bob")
        add_annotator(campaign, bob)
        client.force_login(bob)
        task = client.post("/api/tasks/ranks/next/").json()["assignment"]
        assert len(task["outputs"]) == 4 and task["left"] is None and task["output"] is None
        answer = {"assignment": task["id"], "key": task["key"], "choice": "4321"}
        stored = client.post("/api/tasks/ranks/judgments/", answer, "application/json")
        assert stored.status_code == 201 and PairwiseJudgment.objects.count() == 6
        again = answer | {"key": str(assignment_key(1, 1)), "choice": "4;1"}
        assert client.post("/api/tasks/ranks/judgments/", again, "application/json").status_code == 400


class TestCounted:
    def test_pages_and_programs_count_rankings(self, campaign, client):
        """Six rankings of four texts are 36 pairs: three people with two rankings each, none of which took back one."""
        everybody_ranks(campaign)
        assert sorted(store.counts_by_person(campaign).values()) == [[0, 2]] * 3
        assert store.rankings(campaign) == 6 and many_of(campaign)["judgments"] == 36
        page = text(client.get("/c/ranks/"))
        assert "<dt>rankings</dt><dd>6</dd>" in page and "rank up to 5 outputs at a time" in page
        assert "36 judgments from 6 rankings" in text(client.get("/c/ranks/progress/"))
        page = text(client.get("/c/ranks/plan/"))
        assert "Rankings</th>" in page and "Seconds for a ranking" in page and "a ranking is one judgment" in page
        assert assumed_seconds(campaign)["seconds_per_pair"] == 87.5  # five texts, each as long as one of a pair of 35 s
        items = client.get("/api/campaigns/ranks/items/").json()["results"]
        assert items[0]["systems"] == list(FOUR) and items[0]["taken"] == 3

    def test_a_pilot_and_a_forecast_count_rankings(self, campaign, monkeypatch):
        """Ada has most first places, but not by enough; in six rankings."""
        everybody_ranks(campaign)
        monkeypatch.setattr(plan, "LEAST_PILOT", 6)
        ground = plan.grounds_of(campaign, plan.Protocol(**plan.protocol_of(campaign)), campaign)[-1]
        assert ground.source.startswith("pilot, 6 rankings, ")
        assess(campaign)
        differences = queries.board(by_people(campaign)).differences
        forecasts = {one.forecast for one in differences if one.forecast and one.forecast.more}
        assert forecasts and {one.what for one in forecasts} == {"rankings"}


class TestSetUp:
    @pytest.mark.parametrize(
        "settings, words",
        [
            ({"outputs_at_once": 8}, "2 to 7 at a time"),
            ({"outputs_at_once": 2, "best_worst": True}, "three outputs or more"),
            ({"outputs_at_once": 5, "pairwise": False, "likert": True}, "choose judgments of pairs"),
            ({"outputs_at_once": 5, "pair_points": 5}, "neither points"),
        ],
    )
    def test_what_can_not_be_asked_is_said(self, settings, words):
        with pytest.raises(Refused, match=words):
            create_campaign(slug="no", criteria=[], **({"pairwise": True, "likert": False} | settings))

    def test_answers_hold_it_in_place(self, campaign):
        everybody_ranks(campaign)
        with pytest.raises(Refused, match="Outputs compared at a time"):
            change_campaign(campaign, outputs_at_once=2)

    def test_before_answers_the_items_are_drawn_anew(self, campaign):
        change_campaign(campaign, outputs_at_once=2)
        assert {item.size for item in Item.objects.all()} == {2}
        change_campaign(campaign, outputs_at_once=3)
        assert [item.size for item in Item.objects.all()] == [3, 3]

    def test_where_a_text_is_replaced_the_ranking_closes_and_one_of_todays_texts_comes(self, campaign):
        old = Item.objects.order_by("position").first()
        dov = old.texts[3]
        dov.replaced_at, new = timezone.now(), Output(context=dov.context, system=dov.system, text="new")
        dov.save()
        new.save()
        person = add_annotator(campaign, User.objects.create_user("bob"))
        submit(person, next_assignment(person).pk, assignment_key(0, 0), {"choice": "1234"})
        assert Item.objects.get(pk=old.pk).taken == 1
        draw_items(campaign)
        old.refresh_from_db()
        assert old.places == old.taken == 1
        (now,) = campaign.items.filter(context=old.context_id).exclude(pk=old.pk)
        assert [output.pk for output in now.texts] == [*(output.pk for output in old.texts[:3]), new.pk]
        while assignment := next_assignment(person):  # the three that stayed are ranked again: the last answer counts
            submit(person, assignment.pk, assignment_key(1, assignment.pk), {"choice": "1111"})
        live = PairwiseJudgment.objects.filter(output_a__context=old.context, retracted_at=None)
        assert live.filter(choice="tie").count() == 6 and live.exclude(choice="tie").count() == 3
        recount(campaign)
        assert list(campaign.items.order_by("pk").values_list("taken", flat=True)) == [1, 1, 1]
        assert undo_last(person) and undo_last(person)  # both later rankings: the first one's six pairs count again
        assert live.count() == 6 and not live.filter(choice="tie").exists()

    def test_a_ranking_page_that_is_kept_says_what_one_made_anew_says(self, campaign, client, monkeypatch):
        """Two people, whose texts stand in another order, and the second item of one of them."""
        client.get("/c/ranks/")  # which says that the campaign was created
        people = [add_annotator(campaign, User.objects.create_user(name)) for name in ("bob", "cleo")]

        def pages():
            shown = []
            for person in (*people, *people):
                client.force_login(person.user)
                page = text(client.get("/c/ranks/annotate/?start=1"))
                shown.append(re.sub(r'(name="(?:csrfmiddlewaretoken|key|shown)" value=)"[^"]+"', r"\1", page))
            return shown

        submit(people[1], next_assignment(people[1]).pk, assignment_key(0, 0), {"choice": "1234"})
        kept = pages()
        monkeypatch.setattr("annotation.views.annotating.item.page_key", lambda *of: None)
        assert kept == pages() and len(set(kept)) == 2 and not any("\0" in page for page in kept)

    def test_a_ranking_has_no_known_answer_but_a_pair_has(self, campaign, client):
        with pytest.raises(Refused, match="A ranking has no known answer"):
            mark_known(Item.objects.first(), "gold", {"choice": "A"})
        assert "A ranking has no known answer" in text(client.get(f"/c/ranks/items/{Item.objects.first().pk}/"))


class TestKept:
    @pytest.mark.parametrize("written", ["jsonl", "csv"])
    def test_what_people_ranked_here_is_what_an_import_of_it_gives(self, campaign, tmp_path, written):
        everybody_ranks(campaign)
        rows = list(exported_answers(campaign, "judgments"))
        file = tmp_path / f"out.{written}"
        file.write_text("".join(as_csv(rows, "judgments") if written == "csv" else as_jsonl(rows)))
        other = create_campaign(slug="again", criteria=[], pairwise=True, likert=False, outputs_at_once=5)
        import_judgments(other, file)
        untimed = {"seconds": None, "active_seconds": None}
        assert [row | untimed for row in exported_answers(other, "judgments")] == [row | untimed for row in rows]
        assert assess(other).digest == assess(campaign).digest
        assert [(item.size, item.taken) for item in other.items.all()] == [(4, 3), (4, 3)]  # all have their answers

    def test_their_board_is_plackett_and_luces(self, campaign):
        """Ada was before Dov in all six rankings, as SAID says."""
        everybody_ranks(campaign)
        assess(campaign)
        by_people(campaign)
        out = io.StringIO()
        call_command("leaderboard", "ranks", "--json", stdout=out)
        board = json.loads(out.getvalue())
        ratings = {row["system"]: row["rating"] for row in board["standings"]}
        assert board["method"]["name"] == "plackett-luce" and ratings["Ada"] > ratings["Dov"]

    def test_a_file_of_the_same_rankings_gives_the_same_snapshot(self, campaign, tmp_path):
        """SAID as another tool would write it, a row a ranking."""
        everybody_ranks(campaign)
        rows = [
            {"context_id": f"c{c}", "annotator": person.name, "ranking": by_rank(ranks)}
            for person, of_person in zip(campaign.annotators.order_by("pk"), SAID)
            for c, ranks in enumerate(of_person)
        ]
        other = create_campaign(slug="again", criteria=[], pairwise=True, likert=False)
        import_outputs(other, write_outputs(tmp_path, 2, FOUR))
        file = tmp_path / "rankings.jsonl"
        file.write_text("".join(json.dumps(row) + "\n" for row in rows))
        import_judgments(other, file)
        told = [
            sorted(
                (row["context_id"], row["annotator"], row["system_a"], row["system_b"], row["choice"], row["ranking"])
                for row in exported_answers(one, "judgments")
            )
            for one in (campaign, other)
        ]
        assert told[0] == told[1] and len(told[0]) == 3 * 2 * 6
        assert snapshots.read(assess(campaign)).judgments == snapshots.read(assess(other)).judgments

    def test_an_archive_carries_items_and_the_order_shown(self, campaign):
        everybody_ranks(campaign)
        out = io.BytesIO()
        write_archive(campaign, out)
        admit(out, "ranks.zip", slug="again")
        other = Campaign.objects.get(slug="again")
        for name in ("cell", "order", "campaign"):
            told = [self.told(one)[name] for one in (campaign, other)]
            assert told[0] == told[1], name

    @staticmethod
    def told(campaign: Campaign) -> dict[str, list]:
        systems = dict(campaign.systems.values_list("pk", "name"))
        items = campaign.items.order_by("position")
        return {
            "cell": [[[systems[int(pk)] for pk in item.cell.split(":")], [one.text for one in item.texts]] for item in items],
            "order": [[one.order for one in item.assignments.order_by("pk")] for item in items],
            "campaign": [campaign.outputs_at_once, campaign.best_worst],
        }


def by_rank(ranks: str) -> str:
    places = [" = ".join(s for s, rank in zip(FOUR, ranks) if rank == place) for place in sorted(set(ranks))]
    return " > ".join(places)


def test_the_kind_is_known_by_how_many_texts_it_shows():
    assert ranked_of(4, False) is ranked_of(4, False) and ranked_of(4, False) is not ranked_of(5, False)
