"""A researcher follows a campaign: figures, the answers behind them, items, reports, known answers."""

import re

import pytest

from annotation.annotating.assignment import next_assignment
from annotation.annotating.submissions import submit
from annotation.answers import Filters
from annotation.assessment import live
from annotation.campaigns.known_answers import check_expected, mark_known, unmark_known
from annotation.models import Item, ItemReport, LikertScore, Output, PairwiseJudgment, Submission, System, User
from annotation.people.accounts import add_annotator
from annotation.views.assessment import live_plots
from core.errors import Refused
from tests.annotation.pages import World, text

pytestmark = pytest.mark.django_db
PAGES = ["progress/", "progress/answers/", "progress/answers/?kind=judgments", "items/"]


def judge(world, seconds, name="Overall"):
    """Bob scores the next output; the page measured `seconds` without idle time, and 100 with it."""
    assignment = next_assignment(world.annotator)
    scores = {c.pk: c.high for c in world.campaign.criteria.all()}
    submission = submit(world.annotator, assignment.pk, f"0b5bd2d8-35c4-4b5e-9d6c-{seconds:012d}", {"scores": scores})
    Submission.objects.filter(pk=submission.pk).update(active_seconds=seconds, seconds=100)


class TestWhoMaySee:
    def test_researchers_only(self, world):
        item = world.campaign.items.first()
        for path in [*PAGES, f"items/{item.pk}/"]:
            assert world.sign_in(world.alice).get(path).status_code == 200
            assert world.sign_in(world.bob).get(path).status_code == 404
            assert world.sign_in(world.charlie).get(path).status_code == 404


class TestFigures:
    def test_before_anybody_answered_the_pages_say_so(self, world):
        world.sign_in(world.alice)
        assert "No answers yet" in text(world.get("progress/")) and "No scores" in text(world.get("progress/answers/"))

    def test_the_numbers_are_those_of_hand_arithmetic(self, world):
        """Two contexts, scores 5 and 1 on c0, 3 on c1: context means 3 and 3, so the mean is 3; one more system: 4."""
        overall, people = world.campaign.criteria.get(name="Overall"), [world.annotator]
        people.append(add_annotator(world.campaign, User.objects.create_user("ann")))
        hydra = Output.objects.filter(system__name="Hydra-system").order_by("context")
        for person, output, value in ((0, 0, 5), (1, 0, 1), (0, 1, 3)):
            LikertScore.objects.create(annotator=people[person], output=hydra[output], criterion=overall, value=value)
        [figure] = live.score_figures(world.campaign, Filters(), [overall])
        assert {row["value"]: row["n"] for row in figure["distribution"]} == {"1": 1, "2": 0, "3": 1, "4": 0, "5": 1}
        assert figure["shares"]["classes"] == ["1", "2", "3", "4", "5"]
        assert [counts for _, counts in figure["shares"]["systems"]] == [[1, 0, 1, 0, 1]]
        assert [counts for _, counts in figure["shares"]["people"]] == [[1, 0, 0, 0, 0], [0, 0, 1, 0, 1]]  # the strictest first
        [row] = figure["systems"]
        assert (row["mean"], row["low"], row["high"], row["n"], row["contexts"]) == (3, 3, 3, 3, 2)
        assert (row["population"], row["annotators"]) == ("annotators", 2)
        page = text(world.sign_in(world.alice).get("progress/"))
        assert "these 2 only" in page and "lowest is best" not in page
        world.campaign.criteria.filter(pk=overall.pk).update(best="low")
        page = text(world.get("progress/"))
        assert page.count("lowest is best") == 2  # above the picture and the table
        said = re.findall(r'<figure [^>]*data-said="([^"]+)"', page)
        assert len(said) == page.count("<figure ") > 1 and all(
            "Overall: 3 scores.\nSmall talk, as of 20" in one for one in said
        )
        # one unit of two: they disagree as far as all pairable scores do, so alpha = 1 - De/De = 0
        assert figure["agreement"]["alpha"] == 0 and figure["agreement"]["units"] == 1
        assert live.score_figures(world.campaign, Filters(annotator=people[1].pk), [overall])[0]["scores"] == 1
        assert live.score_figures(world.campaign, Filters(criterion=overall.pk + 99), [overall]) == []

    def test_more_people_than_planned_are_not_a_part_of_a_whole(self, world):
        """Imported answers fill an item twice over: it counts once, and what another item lacks stays."""
        item = world.campaign.items.first()
        world.campaign.items.update(taken=0, places=3)
        world.campaign.items.filter(pk=item.pk).update(taken=4)
        system = item.output.system_id
        count = world.campaign.items.filter(output__system=system).count()
        assert live.system_progress(world.campaign)[system] == {"places": 3 * count, "taken": 3} and count > 1
        world.sign_in(world.alice)
        for path in ("items/", f"items/{item.pk}/"):
            page = text(world.get(path))
            assert "4 of 3" not in page and "3 planned" in page
        assert "0 of 3" in text(world.get("items/"))

    def test_systems_come_by_name_on_every_database(self, world):
        system = world.campaign.systems.last()
        system.name = "A system"  # the highest id comes first
        system.save()
        rows = world.sign_in(world.alice).get("progress/").context["by_system"]
        assert [row.name for row, _ in rows] == sorted(world.campaign.systems.values_list("name", flat=True))
        assert rows[0][0] == system

    def test_alpha_is_that_of_the_quality_room(self, scored):
        from annotation.quality.report import assess_scores

        overall = scored.campaign.criteria.get(name="Overall")
        rows = LikertScore.objects.filter(criterion=overall).values_list("annotator", "output", "value")
        who, what = sorted({r[0] for r in rows}), sorted({r[1] for r in rows})
        table = [[next(v for a, o, v in rows if (a, o) == (person, output)) for output in what] for person in who]
        [figure] = live.score_figures(scored.campaign, Filters(), [overall])
        assert figure["agreement"]["alpha"] == pytest.approx(assess_scores(table, level="ordinal").alpha_before)

    def test_wins_and_sides_of_pairs(self, tmp_path, client):
        world = World(tmp_path, client, contexts=1, likert=False, pairwise=True)
        a, b, _ = Output.objects.order_by("system__name")
        for n, (choice, swapped) in enumerate([("A", False), ("A", True), ("tie", True), ("B", None)]):
            person = world.campaign.annotators.create(name=f"p{n}")
            PairwiseJudgment.objects.create(annotator=person, output_a=a, output_b=b, choice=choice, shown_swapped=swapped)
        figures = live.pair_figures(world.campaign, Filters())
        assert {row["system"]: (row["won"], row["tied"], row["lost"]) for row in figures["systems"]} == {
            a.system_id: (2, 1, 1),
            b.system_id: (1, 1, 2),
        }
        assert {row["side"]: row["n"] for row in figures["sides"]} == {"left": 1, "tie": 1, "right": 1}
        world.sign_in(world.alice)
        assert "4 judgments, by system" in text(world.get("progress/"))
        assert "B on the left" in text(world.get("progress/answers/?kind=judgments&choice=tie"))

    def test_time_is_counted_without_idle_time(self, world):
        for seconds in (3, 12, 14, 90):
            judge(world, seconds)
        times = live.time_figures(world.campaign, Filters())
        assert times["n"] == 4 and times["median"] == 13
        assert [row["n"] for row in times["classes"]] == [1, 0, 2, 0, 0, 1]
        page = text(world.sign_in(world.alice).get("progress/answers/?low=10&high=20"))
        assert "4, the newest first" in page  # two answers of two criteria

    def test_every_linked_figure_leads_to_as_many_answers(self, scored):
        page = text(scored.sign_in(scored.alice).get("progress/"))
        links = re.findall(r'href="/c/talk/(progress/answers/\?[^"]+)">(\d+)</a>', page)
        assert len(links) > 6
        for path, count in links:
            listed = text(scored.get(path.replace("&amp;", "&")))
            assert f"<caption>{count}, the newest first" in listed or (count == "0" and "match" in listed), path

    @pytest.mark.parametrize("query", ["?criterion=x&system=-1&annotator=9999999999999", "?value=nan&low=inf", "?page=zzz"])
    def test_an_odd_address_is_no_error(self, scored, query):
        scored.sign_in(scored.alice)
        assert [scored.get(f"{path.split('?')[0]}{query}").status_code for path in PAGES] == [200] * 4

    def test_the_number_of_queries_does_not_depend_on_the_number_of_rows(self, scored, django_assert_num_queries):
        def count():
            scored.sign_in(scored.alice)
            # session, user, campaign; then what the page shows, and what comes next
            for path, number in zip(PAGES, (26, 8, 7, 6)):
                with django_assert_num_queries(number + 4):
                    assert scored.get(path).status_code == 200

        judge(scored, 5)
        ItemReport.objects.create(item=Item.objects.first(), annotator=scored.annotator, kind="flag", reason="broken")
        count()
        for n in range(9):
            person = scored.campaign.annotators.create(name=f"more-{n}")
            ItemReport.objects.create(item=Item.objects.last(), annotator=person, kind="skip", reason=f"odd {n}")
            for output in Output.objects.all():
                for criterion in scored.campaign.criteria.all():
                    LikertScore.objects.create(annotator=person, output=output, criterion=criterion, value=1)
        count()


class TestPictures:
    def test_of_several_criteria_the_means_alone_are_seen_at_once(self, world):
        judge(world, 5)  # on both
        world.sign_in(world.alice)

        def keys(answer):
            return [
                [[plot.key for plot in one["plots"][part]] for part in ("shown", "opened")] for one in answer.context["scores"]
            ]

        page = world.get("progress/")
        folded = ["systems", "people"]
        assert keys(page) == [[[f"{c}-means"], [f"{c}-{key}" for key in folded]] for c in ("overall", "fluency")]
        assert "Narrow down" in text(page)
        overall = world.campaign.criteria.get(name="Overall")
        page = world.get(f"progress/?criterion={overall.pk}")
        assert keys(page) == [[["overall-means", "overall-systems", "overall-people"], []]]
        assert "Narrowed to <bdi>Overall</bdi>" in text(page)

    def test_of_many_systems_the_best_are_seen_and_all_are_opened(self):
        rows = [{"system": System(name=f"s{n}"), "won": 20 - n, "tied": 0, "lost": n} for n in range(13)]
        plots = live_plots.of_pairs({"judgments": 130, "rankings": 0, "systems": rows}, "")
        [shown], [opened] = plots["shown"], plots["opened"]
        assert (shown.rows, shown.note, opened.rows, opened.note) == (12, "the best 12 of 13", 13, "")
        assert shown.bars["rows"][0]["name"] == "s0" and shown.key != opened.key
        assert live_plots.of_pairs({"judgments": 120, "rankings": 0, "systems": rows[:12]}, "")["opened"] == []


class TestItems:
    def test_an_item_shows_its_texts_and_every_answer(self, scored):
        item = scored.campaign.items.first()
        page = text(scored.sign_in(scored.alice).get(f"items/{item.pk}/"))
        assert item.output.text in page and item.output.system.name in page and page.count("annotator-") == 3

    def test_the_list_is_narrowed(self, world):
        judge(world, 7)
        page = text(world.sign_in(world.alice).get("items/?taken=1"))
        assert "1 items" in page.replace(",", "") and "6 items" in text(world.get("items/"))
        assert "No items match" in text(world.get("items/?state=full"))

    def test_a_report_is_seen_to(self, world):
        item = world.campaign.items.first()
        report = ItemReport.objects.create(item=item, annotator=world.annotator, kind="flag", reason="cut <off>")
        page = text(world.sign_in(world.alice).get("progress/"))
        assert "cut &lt;off&gt;" in page and "Open: " in page and f"/c/talk/items/{item.pk}/" in page
        world.post(f"reports/{report.pk}/resolve/")
        report.refresh_from_db()
        assert report.resolved_by == world.alice and "resolved by alice" in text(world.get(f"items/{item.pk}/"))
        assert world.sign_in(world.charlie).post(f"reports/{report.pk}/resolve/").status_code == 404


class TestKnownAnswers:
    def test_an_item_becomes_gold_in_the_browser_and_goes_back(self, world):
        item, overall = world.campaign.items.first(), world.campaign.criteria.get(name="Overall")
        sent = {"purpose": "gold", f"score_{overall.pk}": "5, 4", "feedback": "It answers."}
        assert world.sign_in(world.alice).post(f"items/{item.pk}/", sent).url == f"/c/talk/items/{item.pk}/"
        item.refresh_from_db()
        assert item.purpose == "gold" and item.expected == {"scores": {"Overall": [4, 5]}, "feedback": "It answers."}
        assert 'value="4, 5"' in text(world.get(f"items/{item.pk}/"))
        world.post(f"items/{item.pk}/unmark/")
        item.refresh_from_db()
        assert item.purpose == "evaluation" and item.expected is None

    @pytest.mark.parametrize(
        "score, message",
        [
            ("7", "not a point of its scale"),
            ("good", "not a point of its scale"),
            ("", "right score on at least one criterion"),
        ],
    )
    def test_a_wrong_answer_is_refused(self, world, score, message):
        item, overall = world.campaign.items.first(), world.campaign.criteria.get(name="Overall")
        answer = world.sign_in(world.alice).post(f"items/{item.pk}/", {"purpose": "gold", f"score_{overall.pk}": score})
        assert answer.status_code == 422 and message in text(answer)
        item.refresh_from_db()
        assert item.purpose == "evaluation" and item.expected is None

    def test_what_was_judged_stays_in_the_evaluation(self, scored):
        item = scored.campaign.items.first()
        with pytest.raises(Refused, match="has answered this item or is answering it"):
            mark_known(item, "gold", {"scores": {"Overall": 5}})

    def test_what_was_met_as_a_check_stays_one(self, world):
        item = world.campaign.items.order_by("position").first()
        mark_known(item, "gold", {"scores": {"Overall": 5}})
        item.assignments.create(annotator=world.annotator, purpose="gold", assigned_at="2026-01-01T00:00Z")
        with pytest.raises(Refused, match="stays one"):
            unmark_known(item)

    def test_pairs_and_their_shapes(self):
        assert check_expected({"choice": "TIE", "feedback": "x"}, {}, is_pair=True) == {"choice": "tie", "feedback": "x"}
        for wrong in ({"choice": "left"}, {"choices": {"Fun": "A"}}, {"choices": "A"}, {}, {"answer": 1}, [], {"scores": {}}):
            with pytest.raises(Refused):
                check_expected(wrong, {}, is_pair=True)
