"""Where 1 is the best, the best is first, wherever an answer is used."""

import json

import pytest

from annotation.answers import Filters
from annotation.assessment.assess import assess
from annotation.assessment.filter_preview import preview
from annotation.assessment.live import score_figures
from annotation.assessment.snapshot_contents import preferences
from annotation.campaigns.lifecycle import create_campaign
from annotation.campaigns.protocol import CriterionSpec, change_campaign
from annotation.data.export import exported_answers
from annotation.data.importer import import_judgments, import_outputs, import_scores
from annotation.models import Campaign, LikertScore, PairwiseJudgment
from annotation.snapshots import read
from core.errors import ImportRefused, Refused
from evaluator.trainings import sources
from leaderboard import tasks
from leaderboard.tournaments.start import start_tournament
from tests.annotation.pages import World, hidden, text, write_outputs

pytestmark = pytest.mark.django_db
SYSTEMS = ("Hydra-system", "Kraken-system", "Human-writer")
RANKS = {"Human-writer": 1, "Hydra-system": 2, "Kraken-system": 3}


def rows(**more):
    """Three people rank the three systems on four contexts: the human writer first."""
    return [
        {"context_id": f"c{c}", "system": s, "aspect": "Rank", "scale": [1, 3], "annotator": f"p{n}", "score": RANKS[s], **more}
        for c in range(4)
        for n in range(3)
        for s in SYSTEMS
    ]


def written(folder, content, name="scores.jsonl"):
    path = folder / name
    path.write_text("".join(json.dumps(row) + "\n" for row in content), encoding="utf-8")
    return path


@pytest.fixture
def ranked(tmp_path):
    campaign = create_campaign(slug="ranked")
    import_outputs(campaign, write_outputs(tmp_path, 4))
    import_scores(campaign, written(tmp_path, rows(best="low")))
    return campaign


def test_a_file_says_it_of_a_new_criterion(ranked):
    assert ranked.criteria.get().best == "low"
    assert all(row["best"] == "low" for row in exported_answers(ranked, "scores"))


def test_another_direction_than_the_criterion_has_is_refused(ranked, tmp_path):
    with pytest.raises(ImportRefused, match="best"):
        import_scores(ranked, written(tmp_path, rows(best="high")))


def test_means_and_previews_have_the_best_first(ranked):
    [figure] = score_figures(ranked, Filters(), ranked.criteria.all())
    names = dict(ranked.systems.values_list("pk", "name"))
    assert [(names[row["system"]], row["mean"]) for row in figure["systems"]] == sorted(RANKS.items(), key=lambda r: r[1])
    [question] = preview(ranked, 1.0, "ordinal", "drop")["questions"]
    assert [row["name"] for row in question["systems"]] == sorted(RANKS, key=RANKS.get)


def test_a_snapshot_keeps_it_and_preferences_choose_the_best(ranked):
    snapshot = assess(ranked)
    assert read(snapshot).criteria == [{"name": "Rank", "low": 1, "high": 3, "best": "low"}]
    pairs = {(row["system_chosen"], row["system_rejected"], row["margin"]) for row in preferences(snapshot, 1.5)}
    assert pairs == {("Human-writer", "Kraken-system", 2.0)}


def test_a_comparator_learns_that_the_best_is_best(ranked):
    """Pairs, mean scores and single ratings: everything that trains a comparator or is correlated with a judge."""
    source = sources.read(assess(ranked), "Rank", False)
    means = {key[1]: score for key, score in zip(source.keys, source.scores[:, 0], strict=True)}
    assert means == {"Human-writer": 1.0, "Hydra-system": 0.5, "Kraken-system": 0.0}
    for pair in source.pairs:
        a, b = (RANKS[source.keys[i][1]] for i in (pair.a, pair.b))
        assert pair.choice == ("A" if a < b else "B")
    assert {value for key, given in zip(source.keys, source.ratings) for _, value in given if key[1] == "Human-writer"} == {3.0}


def test_the_board_of_people_has_the_best_first_and_means_as_people_gave_them(ranked):
    assess(ranked)
    board = tasks.run(start_tournament(ranked, "people", criterion="Rank", foreground=True).job_id)
    order = board.ratings.order_by("-rating").values_list("system__name", "human_mean")
    assert list(order) == [("Human-writer", 1.0), ("Hydra-system", 2.0), ("Kraken-system", 3.0)]


def test_without_it_a_scale_is_as_before(tmp_path):
    """The same bytes: hashes of snapshots that were published stay."""
    campaign = create_campaign(slug="plain")
    import_outputs(campaign, write_outputs(tmp_path, 4))
    import_scores(campaign, written(tmp_path, rows(aspect="Order")))
    assert read(assess(campaign)).criteria == [{"name": "Order", "low": 1, "high": 3}]
    assert not {"best", "cannot_say"} & set(next(exported_answers(campaign, "scores")))


def test_answers_lock_the_direction_and_nothing_does_before(ranked, tmp_path):
    def turned(campaign):
        criterion = campaign.criteria.get()
        return [CriterionSpec(criterion.name, criterion.low, criterion.high, best="high", pk=criterion.pk)]

    with pytest.raises(Refused, match="which end is best"):
        change_campaign(ranked, criteria=turned(ranked))
    empty = create_campaign(slug="empty", criteria=[CriterionSpec("Rank", 1, 3, best="low")])
    change_campaign(empty, criteria=turned(empty))
    assert empty.criteria.get().best == "high"


class TestCannotSay:
    @pytest.fixture
    def asked(self, tmp_path, client):
        world = World(tmp_path, client)
        world.campaign.criteria.filter(name="Overall").update(cannot_say=True, best="low")
        world.campaign.criteria.filter(name="Fluency").update(optional=True)
        return world.sign_in(world.bob)

    def test_the_page_offers_it_and_says_the_direction(self, asked):
        page = text(asked.get("annotate/?start=1"))
        assert page.count("Cannot say") == 2 and "Here 1 is the best." in page  # the button, and in the list of keys
        assert "(optional)" in page

    def test_it_is_stored_counted_apart_and_an_optional_one_may_be_left_empty(self, asked):
        overall = asked.campaign.criteria.get(name="Overall").pk
        page = asked.get("annotate/?start=1")
        asked.post("annotate/", hidden(page) | {f"score_{overall}": "cannot_say"})
        [row] = LikertScore.objects.all()
        assert (row.criterion_id, row.value, row.cannot_say) == (overall, None, True)
        assert LikertScore.objects.counted().count() == 0 and LikertScore.objects.given().count() == 1
        assert [(row["score"], row["cannot_say"]) for row in exported_answers(asked.campaign, "scores")] == [(None, True)]
        asked.campaign.items.get(pk=row.output.items.get(other=None).pk, taken=1)

    def test_all_left_empty_is_no_answer(self, asked):
        asked.campaign.criteria.update(optional=True, cannot_say=False)
        page = asked.get("annotate/?start=1")
        refused = asked.post("annotate/", hidden(page))
        assert refused.status_code == 422 and "Answer at least one question" in text(refused)

    def test_where_it_is_not_offered_it_is_refused(self, asked):
        fluency, overall = (asked.campaign.criteria.get(name=name).pk for name in ("Fluency", "Overall"))
        page = asked.get("annotate/?start=1")
        refused = asked.post("annotate/", hidden(page) | {f"score_{overall}": "1", f"score_{fluency}": "cannot_say"})
        assert refused.status_code == 422 and not LikertScore.objects.exists()

    def test_words_for_it_in_a_file(self, tmp_path):
        campaign = create_campaign(slug="words")
        import_outputs(campaign, write_outputs(tmp_path, 1))
        words = dict(zip(SYSTEMS, ("can't say", "don't know", 2)))
        content = [row | {"score": words[row["system"]]} for row in rows(best="low") if row["context_id"] == "c0"]
        done = import_scores(campaign, written(tmp_path, content))
        assert done.new["scores"] == 3 and done.new["answers that say they cannot say"] == 6
        snapshot = read(assess(campaign))
        assert len(snapshot.scores) == 3 and len(snapshot.unsaid) == 6

    def test_of_a_pair(self, tmp_path):
        campaign = create_campaign(slug="pairs", criteria=[CriterionSpec("Overall", cannot_say=True)])
        pair = {"context": ["Hi"], "system_a": "a", "output_a": "x", "system_b": "b", "output_b": "y", "annotator": "p"}
        done = import_judgments(campaign, written(tmp_path, [pair | {"choice": "cannot say"}]))
        assert done.new["answers that say they cannot say"] == 1
        row = PairwiseJudgment.objects.get()
        assert (row.choice, row.cannot_say) == ("", True)
        assert [(r["choice"], r["cannot_say"]) for r in exported_answers(campaign, "judgments")] == [(None, True)]
        with pytest.raises(Refused, match="nothing to assess"):
            assess(campaign)


PROTOCOL = {
    "title": "Ranks",
    "criteria": [{"name": "Rank", "low": 1, "high": 4, "best": "low", "cannot_say": True, "optional": True}],
}


class TestDoors:
    """Page, command and API set the same."""

    FIELDS = ("name", "low", "high", "best", "cannot_say", "optional", "kind")
    EXPECTED = ("Rank", 1, 4, "low", True, True, "scale")

    def expected_of(self, slug):
        return Campaign.objects.get(slug=slug).criteria.values_list(*self.FIELDS).get()

    def test_page(self, world):
        world.sign_in(world.alice)
        criterion = {"name": "Rank", "low": 1, "high": 4, "best": "low", "cannot_say": "on", "optional": "on"}
        form = {f"criteria-0-{name}": value for name, value in criterion.items()}
        form |= {"criteria-TOTAL_FORMS": 1, "criteria-INITIAL_FORMS": 0, "title": "Ranks", "likert": "on", "overlap": 3}
        form |= {"overlap_percent": 100, "pair_design": "ring", "seed": 0, "gold_percent": 0, "repeat_percent": 0, "fixed": ""}
        assert world.client.post("/new/", form).status_code == 302
        assert self.expected_of("ranks") == self.EXPECTED
        page = text(world.client.get("/c/ranks/design/"))
        assert '<option value="low" selected>' in page and page.count("checked") >= 3

    def test_api(self, world):
        world.sign_in(world.alice)
        content = PROTOCOL | {"slug": "ranks"}
        response = world.client.post("/api/campaigns/", json.dumps(content), content_type="application/json")
        assert response.status_code == 201, response.content
        assert self.expected_of("ranks") == self.EXPECTED and response.json()["criteria"][0]["best"] == "low"

    def test_command(self, tmp_path, run_command):
        path = tmp_path / "protocol.json"
        path.write_text(json.dumps(PROTOCOL))
        run_command("create_campaign", "ranks", protocol=str(path))
        assert self.expected_of("ranks") == self.EXPECTED

    @pytest.mark.parametrize(
        "content, said",
        [
            ('{"criteria": [{"name": "Rank", "best": "up"}]}', "criteria 1, best"),
            ('{"criterias": []}', "criterias: No such field; did you mean criteria"),
            ("[1]", "expected a JSON object"),
            ("{", "is not JSON"),
        ],
    )
    def test_a_wrong_file_is_refused_by_field(self, tmp_path, run_command, content, said):
        path = tmp_path / "protocol.json"
        path.write_text(content)
        with pytest.raises(Exception, match=said):
            run_command("create_campaign", "ranks", protocol=str(path))
        assert not Campaign.objects.filter(slug="ranks").exists()
