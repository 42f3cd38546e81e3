"""What is noticed of contexts that depend on each other, what is done by default, and its undoing: by page, command, API."""

import io
import json

import pytest
from django.core.management import call_command

from annotation.assessment.asked_for import aims, question_named, set_aim
from annotation.assessment.assess import assess, work_out_assessment
from annotation.assessment.dependence import COPIES, FIELD, RELATIVE, TEXT, for_board, group_by, notes
from annotation.assessment.report import NOT_YET, as_markdown, report_of, report_sections
from annotation.campaigns.lifecycle import create_campaign
from annotation.campaigns.protocol import CriterionSpec
from annotation.data.importer import import_judgments, import_outputs, import_scores
from annotation.models import AuditEvent, User
from core.errors import Refused
from leaderboard.boards import queries
from leaderboard.boards.cautions import cautions
from leaderboard.tournaments import play
from leaderboard.tournaments.entrants import current_entrants
from leaderboard.tournaments.start import start_tournament
from tests.leaderboard.played import quiet

pytestmark = pytest.mark.django_db
PEOPLE = ("ann", "bob", "cat", "dan")


def file(rows):
    return io.BytesIO("\n".join(map(json.dumps, rows)).encode())


@pytest.fixture
def alice():
    return User.objects.create_user("alice", password="a long one here")


@pytest.fixture
def campaign(alice):
    """Two prompts under three ids each, one more for its own; the third prompt's outputs differ."""
    made = create_campaign(slug="talk", criteria=[CriterionSpec("Quality", 1, 5)], user=alice)
    texts = {"a": ("Hello!", "Hi"), "b": ("hello", "hi."), "c": ("HELLO", "Hi"), "d": ("Why?", "So"), "e": ("Why?", "No")}
    rows = [
        {"context_id": key, "context": text, "system": system, "output": f"{output} {system}", "metadata": {"n": key}}
        for key, (text, output) in texts.items()
        for system in ("X", "Y")
    ]
    import_outputs(made, file(rows), "outputs.jsonl")
    scores = [
        {"context_id": key, "system": system, "aspect": "Quality", "annotator": who, "score": 1 + (i + j + k) % 5}
        for i, key in enumerate(texts)
        for j, system in enumerate(("X", "Y"))
        for k, who in enumerate(PEOPLE)
    ]
    import_scores(made, file(scores), "scores.jsonl")
    return made


def groups(campaign):
    return dict(campaign.contexts.values_list("key", "group"))


def test_copies_are_one_group_once_answers_are_accepted(campaign, alice):
    before = {note.kind: note for note in notes(campaign)}
    assert (before[COPIES].contexts, before[COPIES].groups) == (3, 1) and "become one group" in before[COPIES].sentence
    assert (before[TEXT].contexts, before[TEXT].groups) == (2, 1)
    assert set(groups(campaign).values()) == {""}
    assess(campaign, user=alice)
    assert groups(campaign) == {"a": "copies of a", "b": "copies of a", "c": "copies of a", "d": "", "e": ""}
    assert len(set(current_entrants(campaign).groups.tolist())) == 3
    after = next(note for note in notes(campaign) if note.kind == COPIES)
    assert (after.contexts, after.groups) == (3, 1) and "let them count apart" in after.sentence
    assert AuditEvent.objects.filter(campaign=campaign, action="contexts grouped", user=alice).count() == 1


def test_it_can_be_undone_and_stays_undone(campaign, alice):
    assess(campaign, user=alice)
    assert group_by(campaign, "none", alice) == 3 and set(groups(campaign).values()) == {""}
    assess(campaign, level="interval", user=alice)
    assert set(groups(campaign).values()) == {""}
    (apart,) = for_board(campaign, "Quality")
    assert "count apart, as a researcher chose, so intervals may be too narrow" in apart.sentence and apart in notes(campaign)
    assert group_by(campaign, "copies", alice) == 3
    assert for_board(campaign, "Quality") == []


def test_equal_text_is_grouped_where_that_is_asked_for(campaign):
    assert group_by(campaign, "text") == 5
    assert len(set(groups(campaign).values())) == 2
    with pytest.raises(Refused, match="no field 'topic' in their metadata; there are: 'n'"):
        group_by(campaign, "topic")


def test_page_command_and_api_do_the_same(campaign, alice, client, capsys):
    client.force_login(alice)
    page = client.get("/c/talk/quality/preview/").content.decode()
    assert "Not independent?" in page and "Group them by their text" in page
    assert client.post("/c/talk/quality/groups/", {"by": "text"}).status_code == 302
    grouped = groups(campaign)
    assert len(set(grouped.values())) == 2
    found = client.post("/api/campaigns/talk/quality/groups/", {"by": "none"}, content_type="application/json")
    assert found.status_code == 200 and {note["kind"] for note in found.json()} == {COPIES, TEXT}
    assert set(groups(campaign).values()) == {""}
    call_command("assess_quality", "talk", "--group-by", "text", "--json")
    said = json.loads(capsys.readouterr().out)
    assert groups(campaign) == grouped and isinstance(said["dependence"], list)


def test_ranks_stored_as_scores_are_asked_about(alice):
    made = create_campaign(slug="ranks", criteria=[CriterionSpec("Quality", 1, 2)], user=alice)
    keys = [f"c{i}" for i in range(8)]
    import_outputs(
        made, file([{"context_id": k, "context": k, "system": s, "output": f"{k} {s}"} for k in keys for s in "XY"]), "o.jsonl"
    )
    ranks = {(k, w): 1 + (i + 3 * j) % 2 for i, k in enumerate(keys) for j, w in enumerate(PEOPLE)}
    rows = [
        {"context_id": k, "system": s, "aspect": "Quality", "annotator": w, "score": r if s == "X" else 3 - r}
        for (k, w), r in ranks.items()
        for s in "XY"
    ]
    import_scores(made, file(rows), "s.jsonl")
    (note,) = [one for one in notes(made) if one.kind == RELATIVE]
    assert "same sum in 100% of cases" in note.sentence and "judgments of pairs" in note.sentence
    assert for_board(made, "Quality") == [note] and for_board(made, "") == []
    snapshot = assess(made, user=alice)
    board = play.play(start_tournament(made, "people", criterion="Quality", foreground=True), quiet)
    assert (note.kind, note.sentence) in [(one.kind, one.text) for one in cautions(queries.board(board))]
    assert note.sentence in as_markdown(report_of(made, snapshot, None))
    assert NOT_YET in as_markdown(report_sections(made, snapshot, None, None))


def test_a_topic_that_explains_variance_is_offered(alice):
    made = create_campaign(slug="topics", criteria=[CriterionSpec("Quality", 1, 9)], user=alice)
    keys = [(f"c{i}", f"t{i % 6}") for i in range(36)]
    import_outputs(
        made,
        file(
            [
                {"context_id": k, "context": k, "system": s, "output": f"{k} {s}", "metadata": {"topic": t, "n": k}}
                for k, t in keys
                for s in "XY"
            ]
        ),
        "o.jsonl",
    )
    rows = [
        {
            "context_id": k,
            "system": s,
            "aspect": "Quality",
            "annotator": w,
            "score": 5 + (1 if s == "X" else -1) * (-1) ** int(t[1]),
        }
        for k, t in keys
        for s in "XY"
        for w in PEOPLE
    ]
    import_scores(made, file(rows), "s.jsonl")
    found = [note for note in notes(made) if note.kind == FIELD]
    assert [(note.field, note.contexts, note.groups) for note in found] == [("topic", 36, 6)]
    assert group_by(made, "topic") == 36 and groups(made)["c0"] == groups(made)["c6"] == "field: topic t0"
    assert not [note for note in notes(made) if note.kind == FIELD]


class TestWhatAQuestionAsksFor:
    @pytest.fixture
    def arena(self, alice):
        made = create_campaign(slug="arena", pairwise=True, likert=False, user=alice)
        rows = [
            {
                "context_id": f"c{i}",
                "context": f"question {i}",
                "system_a": a,
                "output_a": f"{a} {i}",
                "system_b": b,
                "output_b": f"{b} {i}",
                "annotator": w,
                "choice": "A" if (i + 2 * j) % 7 else "B",
            }
            for i in range(20)
            for a, b in (("X", "Y"), ("Y", "Z"), ("X", "Z"))
            for j, w in enumerate(PEOPLE)
        ]
        import_judgments(made, file(rows), "j.jsonl")
        return made

    def test_pairs_ask_for_taste_until_somebody_says_otherwise(self, arena, alice):
        (pairs,) = work_out_assessment(arena).questions
        assert (pairs.report.asks, pairs.report.rule, pairs.report.verdict) == ("taste", "reliability", "accepted")
        assert pairs.report.reliability.people == 4 and pairs.report.alpha < 0.667
        with pytest.raises(Refused, match="Give a reason"):
            set_aim(arena, question_named(arena, "pairs"), "truth", alice, " ")
        set_aim(arena, question_named(arena, "Pairs"), "truth", alice, "Which one has the error?")
        assessment = work_out_assessment(arena)
        (pairs,) = assessment.questions
        assert (pairs.report.asks, pairs.report.rule, pairs.report.verdict) == ("truth", "agreement", "collect more")
        assert "taste" not in assessment.rule
        assert aims(arena, [pairs.question])["Pairs"].reason == "Which one has the error?"
        assert AuditEvent.objects.filter(action="question asks for", user=alice).count() == 1

    def test_page_command_and_api_say_it(self, arena, alice, client, capsys):
        client.force_login(alice)
        assess(arena, user=alice)
        page = client.get("/c/arena/quality/").content.decode()
        assert "Decided by reliability of the systems&#x27; means" in page and "It asks for taste. Change that" in page
        sent = {"question": "Pairs", "asks": "truth", "reason": "One has an error."}
        assert client.post("/c/arena/quality/asks/", sent).status_code == 302
        said = client.get("/api/campaigns/arena/quality/asks/").json()
        assert {"question": "Pairs", "asks": "truth", "reason": "One has an error."} in said
        call_command("assess_quality", "arena", "--asks", "Pairs=taste", "--reason", "It is taste.", "--json")
        assert json.loads(capsys.readouterr().out)["pairwise"]["rule"] == "reliability"
        answer = client.post("/api/campaigns/arena/quality/asks/", sent | {"asks": "fun"}, content_type="application/json")
        assert answer.status_code == 400

    def test_an_outsider_may_not(self, arena, client):
        client.force_login(User.objects.create_user("eve", password="another long one"))
        assert client.post("/c/arena/quality/asks/", {"question": "Pairs", "asks": "truth", "reason": "x"}).status_code == 404
        assert client.post("/c/arena/quality/groups/", {"by": "text"}).status_code == 404
        assert client.get("/api/campaigns/arena/quality/asks/").status_code == 404

    def test_zhaos_verdict_is_named_wherever_it_was_used(self, campaign, capsys):
        call_command("assess_quality", "talk", "--verdict", "zhao-2020", "--json")
        said = json.loads(capsys.readouterr().out)
        assert said["rule"]["verdict"] == "zhao-2020" and said["criteria"][0]["rule"] == "zhao-2020"
        assert "as in Zhao et al. (2020)" in said["criteria"][0]["reason"]
