"""How much better one of two outputs is: A much better, slightly better, a tie, ...; on five or seven points, or both bad."""

import io
import json
import re
import zipfile

import pytest

from annotation import snapshots
from annotation.annotating.assignment import next_assignment
from annotation.annotating.submissions import submit
from annotation.answers import Filters
from annotation.assessment import snapshot_contents
from annotation.assessment.assess import assess
from annotation.assessment.live import pair_figures
from annotation.campaigns.lifecycle import create_campaign
from annotation.campaigns.protocol import change_campaign
from annotation.data.export import as_csv, as_jsonl, exported_answers
from annotation.data.importer import import_judgments, import_outputs
from annotation.models import Campaign, PairwiseJudgment, User
from annotation.outcome import Outcome, outcome_named, side_and_strength
from annotation.people.accounts import add_annotator
from annotation.questions.pair import pair_of
from core.errors import ImportRefused, Refused
from leaderboard import tasks
from leaderboard.archive.export import write_archive
from leaderboard.archive.row_reader import read_row
from leaderboard.archive.tables import CAMPAIGN
from leaderboard.tournaments.start import start_tournament
from tests.annotation.pages import hidden, text, write_outputs
from tests.annotation.questions.test_third_kind import DESIGN, assignment_key

pytestmark = pytest.mark.django_db
PAIRS = {"slug": "much", "pairwise": "on", "pair_points": "5", "pair_both_bad": "on", "criteria-TOTAL_FORMS": 0}
FIVE = ["left_much", "left_slightly", "tie", "right_slightly", "right_much", "both_bad"]
SIX = ("first", "second", "third", "fourth", "fifth", "sixth")
# Of six pairs, what three people say of A: 2 much better, 1 slightly better, 0 a tie.
SAID = [[2, 1, 2], [1, 0, 1], [-1, -2, -2], [0, 0, 1], [2, 2, 1], [-1, 0, -2]]
# Krippendorff (2011), Computing Krippendorff's Alpha-Reliability, coincidences and the ordinal difference written out for
# SAID and for the same with the sides exchanged; the package krippendorff says the same.
ALPHA = 0.7825463831561392
WORDS = {2: "A is much better", 1: "A slightly better", 0: "tie", -1: "response_b is slightly better", -2: "[[B>>A]]"}


@pytest.fixture
def campaign(tmp_path, client):
    """Set up on the page."""
    client.force_login(User.objects.create_user("alice", may_create_campaigns=True))
    response = client.post("/new/", {k: v for k, v in (DESIGN | PAIRS).items() if k != "likert"})
    assert response.status_code == 302, re.findall(r'class="(?:errorlist|warning)[^>]*>.*?</', text(response), re.DOTALL)
    campaign = Campaign.objects.get(slug="much")
    import_outputs(campaign, write_outputs(tmp_path, 1))
    return campaign


def rows_said(words=WORDS) -> list[dict]:
    about = {"system_a": "m1", "output_a": "x", "system_b": "m2", "output_b": "y"}
    return [
        about | {"context": name, "annotator": f"p{n}", "choice": words[said[n]]}
        for name, said in zip(SIX, SAID)
        for n in range(3)
    ]


def imported(campaign, tmp_path, rows):
    file = tmp_path / "said.jsonl"
    file.write_text("".join(json.dumps(row) + "\n" for row in rows))
    return import_judgments(campaign, file)


@pytest.fixture
def judged(tmp_path):
    campaign = create_campaign(slug="judged", criteria=[], pairwise=True, likert=False)
    done = imported(campaign, tmp_path, rows_said())
    assert done.assumed[-1] == "14 answers say how much better one is, so pairs are judged on 5 points."
    campaign.refresh_from_db()
    return campaign


class TestAsked:
    def test_the_page_has_its_points_in_order(self, campaign, client):
        assert (campaign.pair_points, campaign.pair_both_bad) == (5, True)
        page = text(client.get("/c/much/preview/"))
        assert re.findall(r'name="choice" value="(\w+)"', page) == FIVE and "A is slightly better" in page
        assert re.findall(r'data-key="(\w)"', page) == list("12345x") and "<kbd>1</kbd>" in page

    def test_seven_points_have_a_middle_and_three_are_as_before(self):
        assert [*pair_of(7, False).asked][:4] == ["left_much", "left", "left_slightly", "tie"]
        assert [*pair_of(3, False).asked] == ["left", "tie", "right"] and set(pair_of(3, False).asked.values()) == {""}

    def test_an_answer_is_kept_about_the_outputs_whatever_side_they_stood_on(self, campaign):
        person = add_annotator(campaign, User.objects.create_user("bob"))
        sent = iter(["left_much", "both_bad", "right_slightly"])
        told = []
        while assignment := next_assignment(person):
            said = next(sent)
            submit(person, assignment.pk, assignment_key(0, assignment.pk), {"choice": said})
            row = PairwiseJudgment.objects.last()
            told.append((row.choice, row.detail))
            sides = {"left_much": ("B" if assignment.swapped else "A"), "right_slightly": "A" if assignment.swapped else "B"}
            assert row.choice == sides.get(said, "tie")
            assert pair_of(5, True).row_in_words(row, assignment.swapped) == pair_of(5, True).in_words(said)
        assert [detail for _, detail in told] == [{"strength": "much"}, {"both_bad": True}, {"strength": "slightly"}]

    def test_what_was_not_asked_is_refused(self, campaign, client):
        bob = User.objects.create_user("bob")
        add_annotator(campaign, bob)
        client.force_login(bob)
        page = client.get("/c/much/annotate/?start=1")
        for said in ("left", "left_very", ""):
            assert client.post("/c/much/annotate/", hidden(page) | {"choice": said}).status_code == 422
        assert client.post("/c/much/annotate/", hidden(page) | {"choice": "right_much"}).status_code == 303
        assert "B is much better" in text(client.get("/c/much/answers/"))

    def test_the_api_asks_and_takes_it(self, campaign, client):
        assert client.get("/api/campaigns/much/").json()["pair_points"] == 5
        changed = client.patch("/api/campaigns/much/", {"pair_points": 7}, content_type="application/json")
        assert changed.status_code == 200 and Campaign.objects.get(slug="much").pair_points == 7
        assert client.patch("/api/campaigns/much/", {"pair_points": 6}, content_type="application/json").status_code == 400

    def test_answers_hold_it_in_place(self, judged):
        with pytest.raises(Refused, match="How pairs are judged"):
            change_campaign(judged, pair_points=7)


class TestFiles:
    @pytest.mark.parametrize(
        "word, side, strength",
        [
            ("A is much better", Outcome.A, "much"),
            ("Response 2 is slightly better", Outcome.B, "slightly"),
            ("[[A>>B]]", Outcome.A, "much"),
            ("B > A", Outcome.B, "slightly"),
            ("A=B", Outcome.TIE, ""),
            ("model_b significantly better", Outcome.B, "much"),
            ("A is better", Outcome.A, ""),
        ],
    )
    def test_other_tools_words(self, word, side, strength):
        assert (outcome_named(word), side_and_strength(word)[1]) == (side, strength)

    @pytest.mark.parametrize("written", ["jsonl", "csv"])
    def test_what_is_exported_is_imported_again(self, judged, tmp_path, written):
        rows = list(exported_answers(judged, "judgments"))
        assert [row["strength"] for row in rows[:3]] == ["much", "slightly", "much"]
        file = tmp_path / f"out.{written}"
        file.write_text("".join(as_csv(rows, "judgments") if written == "csv" else as_jsonl(rows)))
        other = create_campaign(slug="again", criteria=[], pairwise=True, likert=False, pair_points=5)
        import_judgments(other, file)
        assert list(exported_answers(other, "judgments")) == rows and assess(other).digest == assess(judged).digest
        assert import_judgments(other, file).new == {}

    def test_a_column_of_strengths_may_have_helpsteers_numbers(self, judged, tmp_path):
        said = [rows_said()[0] | {"annotator": f"n{n}", "choice": "A", "strength": n} for n in (1, 3)]
        imported(judged, tmp_path, said)
        kept = PairwiseJudgment.objects.filter(annotator__name__startswith="n").order_by("annotator__name")
        assert [row.with_strength for row in kept] == ["A, slightly", "A, much"]
        ties = [rows_said()[0] | {"annotator": f"t{n}", "choice": "tie", "strength": n} for n in (0, "")]
        words = [rows_said()[0] | {"annotator": "w", "choice": "B", "strength": "significantly better"}]
        assert "The strengths 1, 2 and 3 are read as slightly, better and much." not in imported(judged, tmp_path, ties).assumed
        assert imported(judged, tmp_path, words).new["judgments"] == 1
        assert PairwiseJudgment.objects.get(annotator__name="w").with_strength == "B, much"

    def test_an_archive_carries_it_and_one_from_before_has_three_points(self, judged):
        out = io.BytesIO()
        write_archive(judged, out)
        cells = json.loads(zipfile.ZipFile(out).read(CAMPAIGN.file))
        assert (cells.pop("pair_points"), cells.pop("pair_both_bad")) == (5, False)
        before = read_row(CAMPAIGN, json.dumps(cells).encode(), {}, {})
        assert (before.pair_points, before.pair_both_bad) == (3, False)

    def test_another_strength_is_said_and_the_first_stays(self, judged, tmp_path):
        again = imported(judged, tmp_path, [row | {"choice": "A is slightly better"} for row in rows_said()[:1]])
        assert again.new == {} and "1 answers were stored before with another word on how much better" in again.assumed[-1]

    @pytest.mark.parametrize(("one", "other"), [("[[A>>B]]", "A is slightly better"), ("tie", "both are bad")])
    def test_two_strengths_of_one_person_in_a_file_contradict_each_other(self, tmp_path, one, other):
        campaign = create_campaign(slug="twice", criteria=[], pairwise=True, likert=False)
        rows = [row | {"choice": choice} for row in rows_said()[:1] for choice in (one, other)]
        with pytest.raises(ImportRefused, match="is not what 'p0' already said about this pair"):
            imported(campaign, tmp_path, rows)
        assert not PairwiseJudgment.objects.filter(annotator__campaign=campaign).exists()

    @pytest.mark.parametrize(
        "row, message",
        [
            ({"choice": "A"}, "field 'strength': expected slightly or much, as pairs are judged on 5 points"),
            ({"choice": "tie", "strength": "much"}, "field 'strength': is much, and the choice is a tie"),
            ({"choice": "A", "strength": "very"}, "field 'strength': expected slightly or much, or nothing for better"),
        ],
    )
    def test_what_says_too_little_or_too_much_is_refused(self, judged, tmp_path, row, message):
        with pytest.raises(ImportRefused, match=message):
            imported(judged, tmp_path, [rows_said()[0] | {"annotator": "new"} | row])

    def test_seven_points_come_from_a_file_that_has_them(self, tmp_path):
        campaign = create_campaign(slug="seven", criteria=[], pairwise=True, likert=False)
        imported(campaign, tmp_path, rows_said(WORDS | {0: "A is better"}))
        assert Campaign.objects.get(slug="seven").pair_points == 7


class TestRead:
    def test_agreement_is_ordinal_over_the_points(self, judged):
        report = assess(judged).decisions.get().report
        assert (report["alpha"], report["level"]) == (pytest.approx(ALPHA, abs=1e-12), "ordinal")
        assert pair_figures(judged, Filters())["agreement"]["alpha"] == pytest.approx(ALPHA, abs=1e-12)

    def test_a_snapshot_keeps_it_and_others_stay_as_they_were(self, judged):
        kept = snapshots.read(assess(judged)).judgments
        assert sorted(row.get("strength", "") for row in kept) == [""] * 4 + ["much"] * 7 + ["slightly"] * 7

    def test_the_board_of_people_counts_sides(self, judged, tmp_path):
        """As the same answers without how much: the unit stays a win."""
        plain = create_campaign(slug="plain", criteria=[], pairwise=True, likert=False)
        imported(plain, tmp_path, rows_said({2: "A", 1: "A", 0: "tie", -1: "B", -2: "B"}))
        of_both = []
        for campaign in (judged, plain):
            assess(campaign)
            board = tasks.run(start_tournament(campaign, "people", criterion="", foreground=True).job_id)
            of_both.append(list(board.ratings.order_by("system__name").values_list("system__name", "rating", "low", "high")))
        assert of_both[0] == of_both[1] and of_both[0][0][1] > of_both[0][1][1]

    def test_preference_pairs_say_how_much_better(self, judged):
        pairs = {pair["prompt"]: pair for pair in snapshot_contents.preferences(assess(judged))}
        assert (pairs["first"]["margin"], pairs["first"]["strength"]) == (3, pytest.approx(7 / 3, abs=1e-6))  # 3, 1, 3
        assert (pairs["sixth"]["chosen"], pairs["sixth"]["strength"]) == ("y", pytest.approx(4 / 3, abs=1e-6))  # 1, 0, 3
