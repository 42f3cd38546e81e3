"""Systems enter, are renamed, write anew and retire: on their pages and by the API, and nothing is lost by it."""

import json
import re

import pytest
from django.core.files.uploadedfile import SimpleUploadedFile
from django.db.models import F

from annotation.assessment.assess import assess
from annotation.campaigns.costs import check_units, give_cost
from annotation.campaigns.lifecycle import create_campaign
from annotation.campaigns.protocol import CriterionSpec
from annotation.data.corpus_export import exported_outputs
from annotation.data.importer import import_outputs
from annotation.models import LikertScore, Output, System
from core.errors import ImportRefused, Refused
from leaderboard import systems
from leaderboard.api import BoardSerializer
from leaderboard.boards import exports, queries
from leaderboard.models import Tournament
from leaderboard.tournaments import entrants, play
from tests.evaluator.world import SCORES, World, write
from tests.leaderboard.played import by_comparator, by_people, quiet, strict

pytestmark = pytest.mark.django_db
PAGE = "/c/talk/systems/"
API = "/api/campaigns/talk/systems/"


def rows_of(world, text: str = "good new", **more) -> list[dict]:
    contexts = {row["context_id"]: row["context"] for row in world.rows}
    return [{"context_id": key, "context": turns, "output": f"{text} {key}", **more} for key, turns in contexts.items()]


def upload(rows: list[dict]) -> SimpleUploadedFile:
    return SimpleUploadedFile("new.jsonl", "".join(json.dumps(row) + "\n" for row in rows).encode())


def rated_again(campaign) -> Tournament:
    """The tournament that a change queued, played."""
    waiting = Tournament.objects.get(campaign=campaign, finished_at=None)
    return play.play(waiting, quiet, strict)


def games(tournament) -> list:
    return list(tournament.games.order_by("number").values_list("output_a", "output_b", "outcome", "p_a", "p_b"))


@pytest.fixture
def board(world, version):
    return by_comparator(world.campaign)


class TestRegistering:
    def test_in_the_browser(self, world, board):
        page = world.post(
            world.alice,
            PAGE,
            {"name": "Poor too", "description": "A baseline.", "link": "https://example.org/m", "file": upload(rows_of(world))},
        )
        made = System.objects.get(name="Poor too")
        assert page.status_code == 302 and page.url == f"{PAGE}{made.pk}/"
        assert (made.description, made.link, made.is_human) == ("A baseline.", "https://example.org/m", False)
        assert made.outputs.count() == 12 and made.outputs.first().checkpoint is None
        shown = world.get(world.alice, page.url).content.decode()
        assert "A baseline." in shown and "This system is on no board yet" in shown

    def test_until_it_is_on_a_board_nobody_else_learns_of_it(self, world, board, client):
        world.campaign.board_is_public = True
        world.campaign.save()
        new = systems.register(world.campaign, "Unreleased", upload(rows_of(world)), "new.jsonl")
        old = world.campaign.systems.exclude(pk=new.pk).first()
        assert client.get(f"{PAGE}{old.pk}/").status_code == 200
        hidden, unknown = (client.get(f"{PAGE}{pk}/") for pk in (new.pk, 10**6))
        assert (hidden.status_code, hidden.url) == (unknown.status_code, unknown.url.replace(str(10**6), str(new.pk)))
        assert world.get(world.alice, f"{PAGE}{new.pk}/").status_code == 200

    def test_it_plays_and_the_others_games_are_not_played_again(self, world, board, monkeypatch):
        monkeypatch.setattr("tests.leaderboard.played.Strict.__init__", _also_new)
        systems.register(world.campaign, "New", upload(rows_of(world)), "new.jsonl")
        judged = []
        monkeypatch.setattr("tests.leaderboard.played.Strict.outcomes", _watched(judged))
        new = rated_again(world.campaign)
        assert games(new)[: board.played] == games(board) and new.extends == board
        mine = set(System.objects.get(name="New").outputs.values_list("pk", flat=True))
        assert judged and all(mine & {a, b} for a, b in judged)
        per_system = {r.name: r.games for r in new.ratings.all()}
        assert per_system["New"] == 2 * board.played / 4  # as many as each of the others had
        assert queries.board(new).standings[0].system == "New"
        assert f"|extends:{board.pk}|" in new.signature and "|pairing:random|" in new.signature

    def test_checkpoints_come_along_and_the_last_one_plays(self, world):
        rows = [row | {"iteration": n, "checkpoint": f"step {n}"} for n in (100, 200) for row in rows_of(world, f"at {n}")]
        systems.register(world.campaign, "New", upload(rows), "new.jsonl")
        playing_now = [o for o in entrants.current_entrants(world.campaign).outputs if o.system.name == "New"]
        assert {o.checkpoint.name for o in playing_now} == {"step 200"} and len(playing_now) == 12

    def test_without_a_board_it_waits_for_the_first(self, world):
        systems.register(world.campaign, "New", upload(rows_of(world)), "new.jsonl")
        assert not Tournament.objects.exists()

    @pytest.mark.parametrize(
        ("name", "rows", "said"),
        [
            ("Fine", None, "There is a system 'Fine' already; choose another name, or replace its outputs."),
            ("ＦINE ", None, "There is a system 'Fine' already, whose name differs in case, spaces or dashes alone;"),
            ("New", [], "new.jsonl"),
            ("New", [{"context_id": "c00", "context": "other", "output": "x"}], "new.jsonl, line 1, field 'context'"),
            ("New", [{"context_id": "z", "context": "z", "output": "x", "system": "Old"}], "was sent for 'New'"),
        ],
    )
    def test_what_is_wrong_is_said_and_changes_nothing(self, world, name, rows, said):
        data = {"name": name, "file": upload(rows_of(world) if rows is None else rows)}
        page = world.post(world.alice, PAGE, data)
        assert page.status_code == 422
        if rows != []:  # an empty file does not reach the service
            assert said.replace("'", "&#x27;") in page.content.decode()
        assert world.campaign.systems.count() == 4 and Output.objects.count() == 48


class TestRanks:
    def test_every_page_has_the_ranks_of_the_board(self, world):
        """Four of five systems were judged, and told apart: nobody may be fifth, and nobody first or second."""
        systems.register(world.campaign, "New", upload(rows_of(world)), "new.jsonl")
        on_board = {row.system: (row.rank_low, row.rank_high) for row in queries.board(by_people(world.campaign)).standings}
        assert on_board == {"Person": (1, 1), "Fine": (2, 2), "Plain": (3, 3), "Poor": (4, 4)}
        number = re.compile(
            r'<td class="num">(\d(?:–\d)?)(?: in group \d)?</td>\s*<td class="num">-?\d{3,5}</td>|<strong>([\d–]+)</strong> ·'
        )
        for address in (PAGE, "/c/talk/leaderboard/breakdown/", f"{PAGE}{world.campaign.systems.get(name='Poor').pk}/"):
            found = ["".join(one) for one in number.findall(world.get(world.alice, address).content.decode())]
            assert found == (
                ["4"] if address.endswith(f"{world.campaign.systems.get(name='Poor').pk}/") else ["1", "2", "3", "4"]
            ), address


class TestRenaming:
    def test_snapshots_still_find_its_answers(self, world):
        before = by_people(world.campaign)
        systems.describe(world.campaign.systems.get(name="Fine"), "Finer", "", "")
        after = by_people(world.campaign)
        tally = lambda t: {r.system_id: (r.wins, r.ties, r.losses, r.human_mean) for r in t.ratings.all()}
        assert tally(after) == tally(before)
        assert "Finer" in {r.name for r in after.ratings.all()} and "Fine" in {r.name for r in before.ratings.all()}

    def test_the_newest_board_calls_it_by_its_new_name_the_permalink_by_its_old(self, world):
        board = by_people(world.campaign)
        world.post(world.alice, f"{PAGE}{world.campaign.systems.get(name='Fine').pk}/describe/", {"name": "Finer"})
        assert "Finer" in world.get(world.alice, "/c/talk/leaderboard/").content.decode()
        assert "Finer" not in world.get(world.alice, f"/tournaments/{board.pk}/").content.decode()

    def test_a_name_that_another_has_or_had_is_refused(self, world):
        fine, plain = (world.campaign.systems.get(name=name) for name in ("Fine", "Plain"))
        systems.describe(fine, "Finer", "", "")
        for taken in ("Poor", "Fine"):
            with pytest.raises(Refused, match=taken):
                systems.describe(plain, taken, "", "")
        systems.describe(fine, "Fine", "", "")  # its own old name it may have back
        plain.refresh_from_db()
        assert plain.name == "Plain"

    def test_files_written_before_go_on_naming_it(self, world):
        """Outputs, scores and judgments by its old name are its own, and its outputs can be replaced from such a file."""
        fine = world.campaign.systems.get(name="Fine")
        systems.describe(fine, "Finer", "", "")
        before = LikertScore.objects.filter(output__system=fine).count()
        world.score("Wit", SCORES)
        assert LikertScore.objects.filter(output__system=fine).count() == before + 24
        world.judge([("c00", "Fine", "Poor", "Ann", "A")])
        more = {"context_id": "c99", "context": ["w1"], "system": "Fine", "output": "w2"}
        import_outputs(world.campaign, write(world.folder, "more.jsonl", [more]), human_systems=["Fine"])
        assert world.campaign.systems.count() == 4 and fine.outputs.count() == 13
        fine.refresh_from_db()
        assert fine.name == "Finer" and fine.is_human
        systems.replace_outputs(fine, upload(rows_of(world, system="Fine")), "new.jsonl")
        assert fine.outputs.filter(replaced_at=None).count() == 12


class TestReplacing:
    def test_the_new_outputs_play_and_the_old_stay_with_their_scores(self, world, board):
        poor = world.campaign.systems.get(name="Poor")
        judged = set(LikertScore.objects.filter(output__system=poor).values_list("pk", flat=True))
        page = world.post(world.alice, f"{PAGE}{poor.pk}/outputs/", {"file": upload(rows_of(world, "better"))})
        assert page.status_code == 302
        assert poor.outputs.count() == 24 and poor.outputs.filter(replaced_at=None).count() == 12
        assert set(LikertScore.objects.filter(output__system=poor).values_list("pk", flat=True)) == judged and judged
        now = [o for o in entrants.current_entrants(world.campaign).outputs if o.system == poor]
        assert {o.checkpoint.name for o in now} == {"version 2"} and len(now) == 12
        shown = world.get(world.alice, f"{PAGE}{poor.pk}/").content.decode()
        assert "version 2" in shown and "as imported" in shown

    def test_only_its_games_are_played_again(self, world, board):
        poor = world.campaign.systems.get(name="Poor")
        old = set(poor.outputs.values_list("pk", flat=True))
        systems.replace_outputs(poor, upload(rows_of(world, "better")), "new.jsonl")
        new = rated_again(world.campaign)
        kept = [game for game in games(board) if not old & set(game[:2])]
        assert games(new)[: len(kept)] == kept and 0 < len(kept) < board.played
        assert not old & {pk for game in games(new) for pk in game[:2]}

    def test_what_people_said_about_the_old_texts_is_not_said_of_the_new(self, world):
        systems.replace_outputs(world.campaign.systems.get(name="Poor"), upload(rows_of(world, "better")), "new.jsonl")
        assert {r.name: r.games for r in by_people(world.campaign).ratings.all()}["Poor"] == 0

    def test_snapshots_that_hold_the_old_texts_are_marked_under_any_name(self, world):
        poor, frozen = world.campaign.systems.get(name="Poor"), assess(world.campaign)
        systems.describe(poor, "Humble", "", "")
        systems.replace_outputs(poor, upload(rows_of(world, "better")), "new.jsonl")
        assert [mark.reason for mark in frozen.marks.all()] == ["Outputs of Humble were replaced after it was frozen."]

    def test_boards_made_of_marked_snapshots_say_so(self, world):
        board = by_people(world.campaign)
        systems.replace_outputs(world.campaign.systems.get(name="Poor"), upload(rows_of(world, "better")), "new.jsonl")
        shown = world.get(world.alice, f"/tournaments/{board.pk}/").content.decode()
        assert f"About its snapshot {board.snapshot.name}: {board.snapshot.marks.get().reason}" in shown

    def test_a_wrong_file_changes_nothing(self, world):
        poor = world.campaign.systems.get(name="Poor")
        wrong = upload([{"context_id": "c00", "context": "other", "output": "x"}])
        page = world.post(world.alice, f"{PAGE}{poor.pk}/outputs/", {"file": wrong})
        assert page.status_code == 422 and "Nothing was changed." in page.content.decode()
        assert poor.outputs.filter(replaced_at=None).count() == 12

    def test_a_third_version_is_called_so(self, world):
        poor = world.campaign.systems.get(name="Poor")
        for text in ("better", "best"):
            systems.replace_outputs(poor, upload(rows_of(world, text)), "new.jsonl")
        playing = entrants.current_entrants(world.campaign).outputs
        assert {output.checkpoint.name for output in playing if output.system == poor} == {"version 3"}


class TestRetiring:
    def test_it_leaves_the_newest_board_and_comes_back(self, world, board):
        poor = world.campaign.systems.get(name="Poor")
        world.post(world.alice, f"{PAGE}{poor.pk}/retire/", {"retired": "yes"})
        without = rated_again(world.campaign)
        assert "Poor" not in {r.name for r in without.ratings.all()} and without.played < board.played
        assert "Poor" in {r.name for r in board.ratings.all()}
        world.post(world.alice, f"{PAGE}{poor.pk}/retire/", {"retired": "no"})
        assert {r.name: r.games for r in rated_again(world.campaign).ratings.all()}["Poor"] > 0

    def test_nobody_is_asked_about_it_while_it_is_retired(self, tmp_path, client):
        world = World(tmp_path, client, judged=False)
        poor = world.campaign.systems.get(name="Poor")
        free = lambda: world.campaign.items.filter(output__system=poor, taken__lt=F("places")).count()
        assert free() == 12
        systems.set_retired(poor, True)
        assert free() == 0 and world.campaign.items.count() == 36
        systems.set_retired(poor, False)
        assert free() == 12

    def test_nor_about_outputs_that_were_replaced(self, world):
        """All are judged by Ann and Bob and have a place left; the new ones are free, the old keep their answers."""
        poor = world.campaign.systems.get(name="Poor")
        free = world.campaign.items.filter(output__system=poor, taken__lt=F("places"))
        assert free.count() == 12
        systems.replace_outputs(poor, upload(rows_of(world, "better")), "new.jsonl")
        assert free.filter(output__replaced_at=None).count() == free.count() == 12
        assert world.campaign.items.filter(output__system=poor).count() == 24


class TestCosts:
    UNIT = "US dollars per 1,000 outputs"

    def rows(self, world, name: str, cost) -> list[dict]:
        return [row | {"system_cost": cost} for row in world.rows if row["system"] == name]

    def test_through_every_door_into_the_board_and_out_again(self, world, tmp_path):
        """Poor by its page, Plain by the API in the same unit, Fine by a file; Person's is not known. 0.05 to 90 is a factor of
        1,800, so that the axis is logarithmic."""
        one = lambda name: world.campaign.systems.get(name=name).pk
        board = by_people(world.campaign)
        assert "by-cost" not in world.get(world.alice, board.get_absolute_url()).content.decode()
        said = {"name": "Poor", "cost": "2", "cost_unit": f" {self.UNIT} "}
        assert world.post(world.alice, f"{PAGE}{one('Poor')}/describe/", said).status_code == 302
        changed = world.client.patch(f"{API}{one('Plain')}/", {"cost": 0.05}, content_type="application/json")
        assert (changed.json()["cost"], changed.json()["cost_unit"]) == (0.05, self.UNIT)
        found = import_outputs(world.campaign, write(tmp_path, "fine.jsonl", self.rows(world, "Fine", 90)))
        assert found.new == {"costs of systems": 1}
        costs = {"Plain": 0.05, "Poor": 2.0, "Fine": 90.0}
        shown = exports.as_json(queries.board(board))
        assert shown["costs"]["unit"] == self.UNIT and {r["system"]: r["cost"] for r in shown["costs"]["systems"]} == costs
        assert shown["said"]["costs"] == "Costs are as researchers gave them. None is known of Person."
        page = world.get(world.alice, board.get_absolute_url()).content.decode()
        assert 'id="by-cost"' in page and f"{self.UNIT}, logarithmic</text>" in page
        assert f"Cost: 2 {self.UNIT}" in world.get(world.alice, f"{PAGE}{one('Poor')}/").content.decode()
        again = create_campaign(slug="again", criteria=[CriterionSpec("Overall")])
        import_outputs(again, write(tmp_path, "again.jsonl", list(exported_outputs(world.campaign))))
        assert dict(again.systems.exclude(cost=None).values_list("name", "cost")) == costs
        assert set(again.systems.exclude(cost=None).values_list("cost_unit", flat=True)) == {self.UNIT}

    def test_one_unit_one_number(self, world, tmp_path):
        poor, plain = (world.campaign.systems.get(name=name) for name in ("Poor", "Plain"))
        with pytest.raises(Refused, match="needs its unit"):
            give_cost(poor, 3)
        give_cost(poor, 3, self.UNIT)
        give_cost(poor, 3, "seconds")  # no other system has a cost
        with pytest.raises(Refused, match="Other systems' costs are in 'seconds'"):
            give_cost(plain, 3, self.UNIT)
        for cost in (-1.0, float("nan"), float("inf")):
            with pytest.raises(Refused, match="0 at least"):
                give_cost(plain, cost)
        for rows, sentence in (
            (self.rows(world, "Poor", 4), "'Poor' was given 3"),
            ([row | {"system_cost_unit": "hours"} for row in self.rows(world, "Fine", 4)], "costs here are in 'seconds'"),
            (self.rows(world, "Fine", -4), "0 at least"),
        ):
            with pytest.raises(ImportRefused, match=sentence):
                import_outputs(world.campaign, write(tmp_path, "wrong.jsonl", rows))
        give_cost(poor, None)
        assert not world.campaign.systems.exclude(cost=None, cost_unit="").exists()
        with pytest.raises(Refused, match="in one unit, and not in 'a', 'b'"):
            check_units([System(cost=1, cost_unit="a"), System(cost=2, cost_unit="b"), System()])


class TestApi:
    def test_register_list_change_replace(self, world):
        send = lambda method, path, data: getattr(world.client, method)(path, data, content_type="application/json")
        world.client.force_login(world.alice)
        made = send("post", API, {"name": "New", "link": "https://example.org", "outputs": rows_of(world)})
        assert made.status_code == 201 and made.json()["name"] == "New"
        one = f"{API}{made.json()['id']}/"
        assert {row["name"] for row in world.client.get(API).json()} == {"Fine", "New", "Person", "Plain", "Poor"}
        changed = send("patch", one, {"name": "Newer", "retired": True}).json()
        assert changed["name"] == "Newer" and changed["retired_at"] and changed["link"] == "https://example.org"
        assert send("put", one + "outputs/", {"outputs": rows_of(world, "again")}).status_code == 200
        assert System.objects.get(name="Newer").outputs.count() == 24
        assert world.client.get(one).json()["name"] == "Newer"

    def test_a_file_as_in_the_browser(self, world):
        made = world.post(world.alice, API, {"name": "New", "file": upload(rows_of(world))})
        assert made.status_code == 201 and System.objects.get(name="New").outputs.count() == 12

    def test_what_is_wrong_is_said(self, world):
        assert world.post(world.alice, API, {"name": "New"}).status_code == 400
        refused = world.post(world.alice, API, {"name": "Fine", "file": upload(rows_of(world))})
        assert refused.status_code == 422 and "There is a system 'Fine' already" in refused.json()["message"]
        wrong = world.post(world.alice, API, {"name": "New", "file": upload([{"context_id": "c00"}])})
        assert wrong.status_code == 422 and wrong.json()["errors"][0]["line"] == 1

    def test_a_key_registers_once(self, world):
        world.client.force_login(world.alice)
        for _ in range(2):
            sent = {"name": "New", "file": upload(rows_of(world))}
            made = world.client.post(API, sent, headers={"Idempotency-Key": "k1"})
            assert made.status_code == 201 and made.json()["name"] == "New"
        assert System.objects.filter(name="New").count() == 1

    def test_the_schema_names_every_field_of_a_board(self, world, board):
        world.client.force_login(world.alice)
        shown = world.client.get("/api/campaigns/talk/leaderboard/").json()
        fields = BoardSerializer().fields
        assert set(shown) == set(fields) - {"chosen"} and set(fields["standings"].child.fields) <= set(shown["standings"][0])

    def test_half_a_surrogate_pair_is_refused_with_its_line(self, world):
        world.client.force_login(world.alice)
        rows = [*rows_of(world), {"context_id": "c00", "output": "\ud800"}]
        for method, path, body in (
            ("post", API, {"name": "New", "outputs": rows}),
            ("put", f"{API}{world.campaign.systems.get(name='Fine').pk}/outputs/", {"outputs": rows}),
        ):
            refused = getattr(world.client, method)(path, body, content_type="application/json")
            assert refused.status_code == 422
            assert refused.json()["errors"][0]["line"] == 13 and "surrogate" in refused.json()["message"]

    def test_only_researchers(self, world):
        fine = world.campaign.systems.get(name="Fine")
        world.client.force_login(world.charlie)
        for method, path in (
            ("get", API),
            ("post", API),
            ("get", f"{API}{fine.pk}/"),
            ("patch", f"{API}{fine.pk}/"),
            ("put", f"{API}{fine.pk}/outputs/"),
            ("get", PAGE),
            ("post", PAGE),
            ("get", f"{PAGE}{fine.pk}/"),
            ("post", f"{PAGE}{fine.pk}/describe/"),
            ("post", f"{PAGE}{fine.pk}/outputs/"),
            ("post", f"{PAGE}{fine.pk}/retire/"),
        ):
            assert getattr(world.client, method)(path).status_code == 404, (method, path)


def _also_new(judge, outputs):
    best = {"Person": 9, "Fine": 5, "Plain": 5, "Poor": 1, "New": 20}
    judge.u = {o.pk: best[o.system.name] for o in outputs}


def _watched(judged: list):
    import numpy as np

    def outcomes(judge, a, b):
        judged.extend(zip(a, b))
        return np.sign([judge.u[i] - judge.u[j] for i, j in zip(a, b)]).astype(int)

    return outcomes


def test_systems_are_found_by_their_name(world):
    page = world.get(world.alice, "/c/talk/systems/?q=fine").content.decode()
    assert ">Fine</a>" in page and ">Poor</a>" not in page
    assert "None of the systems fits “nobody”" in world.get(world.alice, "/c/talk/systems/?q=nobody").content.decode()
