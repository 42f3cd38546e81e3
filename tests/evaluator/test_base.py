"""A base by train_base, and trainings that start from it: by its name, by default, or not."""

import json

import pytest
from django.core.management import CommandError, call_command
from django.test import override_settings

from core.errors import Refused
from evaluator import tasks
from evaluator.comparator.settings import Settings
from evaluator.models import ComparatorVersion, Dialogue, TrainingRun
from evaluator.trainings import sources
from evaluator.trainings.services import start_training
from evaluator.versions import card_view, selectors
from evaluator.versions.archive import pack, unpack
from tests.evaluator.test_reproducible_training import made as entered
from tests.evaluator.test_training_form import PAGE, PLAIN, checked
from tests.evaluator.world import command, recipe, tiny_encoder, write

pytestmark = [pytest.mark.django_db, pytest.mark.one_database]
QUICK = {name: value for name, value in recipe(epochs=1).items() if name != "encoder"}


def chat(*conversations: list[tuple[str, str]]) -> dict:
    """As chitchat-dataset has it: each message with its sender and time, those of one speaker in one list."""
    return {
        f"c{i}": {
            "prompt": "What is new?",
            "ratings": {"witty": "1", "int": 5},
            "messages": [[{"text": text, "timestamp": "2018-05-02T19:38:15Z", "sender": sender}] for sender, text in said],
        }
        for i, said in enumerate(conversations)
    }


def written(world, document, name="dataset.json") -> str:
    path = world.folder / name
    path.write_text(json.dumps(document), encoding="utf-8")
    return str(path)


@pytest.fixture
def talk(world) -> str:
    """Eight conversations of four turns; the first one holds a judged context."""
    asked, answered = world.rows[0]["context"]
    seen = [("Ann", asked), ("Bob", answered), ("Ann", "w1 good"), ("Bob", "w2")]
    return written(
        world, chat(seen, *([("Ann", f"w{i}"), ("Bob", f"w{i} w3"), ("Ann", "good"), ("Bob", "w4")] for i in range(7)))
    )


def made(talk: str, name: str = "general", *options: str) -> dict:
    return command("train_base", name, "--dialogues", talk, "--encoder", tiny_encoder(), *options)


class TestMade:
    def test_it_says_what_it_is(self, talk, models_dir):
        said = made(talk)
        folder = models_dir / "bases" / "general"
        assert (said["base"], said["exchanges"], said["conversations"]) == ("general", 24, 8)
        assert said["seconds"] > 0 and said["folder"] == str(folder)
        manifest = selectors.bases()["general"]
        assert manifest["sha256"] == said["sha256"] and len(said["sha256"]) == 64
        assert not [path for path in folder.rglob("*") if path.suffix not in (".json", ".safetensors", "")]
        assert made(talk) == said  # found again

    def test_a_part_is_drawn_and_a_teacher_named(self, talk):
        said = made(talk, "small", "--exchanges", "10", "--teacher", tiny_encoder(), "--pass-most", "4", "--seed", "3")
        assert (said["exchanges"], said["conversations"]) == (12, 4)
        manifest = selectors.bases()["small"]
        assert manifest["settings"]["teacher"] == tiny_encoder() and manifest["seed"] == 3

    @pytest.mark.parametrize("name", ["none", "../up", "Big", "", "a b", "a" * 65])
    def test_a_name_that_is_none(self, talk, name, models_dir):
        with pytest.raises(CommandError, match="small letters, digits and hyphens"):
            made(talk, name)
        assert not (models_dir / "bases").exists()

    def test_what_cannot_be_learnt_from(self, world, talk):
        with pytest.raises(CommandError, match="must be at least 1"):
            made(talk, "general", "--exchanges", "0")
        with pytest.raises(CommandError, match="at least two conversations"):
            made(written(world, chat([("Ann", "w1"), ("Bob", "w2")]), "one.json"))
        with pytest.raises(CommandError, match="nowhere.json: can't be opened"):
            made("nowhere.json")

    def test_an_unfinished_one_is_none(self, talk, models_dir):
        made(talk)
        (models_dir / "bases" / "general" / "manifest.json").unlink()
        assert selectors.bases() == {}


class TestStarted:
    def trained(self, world, **options):
        return tasks.run(start_training([world.campaign], foreground=True, recipe=QUICK, **options).job_id)

    def test_a_training_starts_from_it_and_the_card_says_what_it_has_seen(self, world, talk, tmp_path):
        sha256 = made(talk)["sha256"]
        version = self.trained(world, base="general")
        assert version.settings["base"] == "general"
        assert version.metrics["base"] == {"name": "general", "sha256": sha256, "contexts": 12, "known": 1}
        assert version.metrics["learnt_from"]["exchanges"] == 0
        html = world.get(world.alice, f"/c/talk/comparator/{version.name}/").content.decode()
        assert "1 of 12 judged contexts occur in these conversations" in html
        assert "figures for these contexts are biased upwards" in html
        assert card_view.again(version, world.alice).endswith("--base general --seed 0")
        with pack(version, selectors.folder(version), version.metrics) as packed:
            (tmp_path / "packed.zip").write_bytes(packed.read())
        (tmp_path / "unpacked").mkdir()
        assert unpack(tmp_path / "packed.zip", tmp_path / "unpacked").metrics["base"]["known"] == 1
        assert not (tmp_path / "unpacked" / "conversations.safetensors").exists()

    def test_the_command_names_it(self, world, talk):
        made(talk)
        said = command("train_comparator", "talk", "--base", "general")
        assert TrainingRun.objects.get(pk=said["run"]).settings["recipe"] == {"base": "general"}

    def test_conversations_of_the_campaign_are_not_read_then(self, world, talk):
        made(talk)
        Dialogue.objects.create(campaign=world.campaign, key="d", turns=["w1", "w2"])
        run = start_training([world.campaign], base="general")
        assert sources.examples(run, Settings(base="general")).exchanges == []
        assert len(sources.examples(run, Settings()).exchanges) == 1 + 12  # and what the Person answers to each context

    def test_the_default_one_where_nothing_else_is_asked_for(self, world, talk):
        assert start_training([world.campaign]).settings["recipe"] == {}
        made(talk, "default")
        assert start_training([world.campaign], seed=1).settings["recipe"] == {"base": "default"}
        for asked in ({"encoder": "a/b"}, {"from_scratch": True}, {"next_utterance": False}, {"teacher": "a/b"}):
            assert start_training([world.campaign], seed=2, foreground=True, recipe=asked).settings["recipe"] == asked
        version = entered(world, start_training([world.campaign], seed=3, base="none"))
        assert card_view.again(version, world.alice).endswith("--base none --seed 3")
        with override_settings(DEFAULT_BASE="other"):
            assert selectors.base_for({}, None) == ""

    def test_one_that_is_not_there_or_does_not_fit(self, world, talk):
        with pytest.raises(Refused, match="There is no base 'general'; none is made yet."):
            start_training([world.campaign], base="general")
        made(talk, "small")
        with pytest.raises(Refused, match="There is no base 'general'; there is: small."):
            start_training([world.campaign], base="general")
        with pytest.raises(Refused, match="either a base or an encoder"):
            start_training([world.campaign], base="small", recipe={"encoder": "a/b"})
        with pytest.raises(Refused, match=r"\(or a teacher\)"):
            start_training([world.campaign], base="small", recipe={"teacher": "a/b"})
        assert not TrainingRun.objects.exists()

    def test_the_form_offers_it(self, world, talk):
        assert 'name="base"' not in world.get(world.alice, PAGE).content.decode()
        made(talk, "default")
        html = world.get(world.alice, PAGE).content.decode()
        assert '<option value="default" selected>default: learnt from 24 replies in general conversations</option>' in html
        world.post(world.alice, PAGE, PLAIN | {"base": "none"})
        world.post(world.alice, PAGE, PLAIN | {"base": "default", "seed": "1"})
        unticked = {name: value for name, value in PLAIN.items() if name != "next_utterance"}
        world.post(world.alice, PAGE, unticked | {"base": "default", "seed": "2"})
        recipes = [run.settings["recipe"] for run in TrainingRun.objects.order_by("pk")]
        assert recipes == [{}, {"base": "default"}, {"next_utterance": False}]
        assert checked(html, "architecture") == ["utility"]
        assert world.post(world.alice, PAGE, PLAIN | {"base": "another"}).status_code == 422


class TestTaught:
    """By a larger encoder, which learns the campaign's conversations first."""

    def trained(self) -> dict:
        return command("train_comparator", "talk", "--encoder", tiny_encoder(), "--teacher", tiny_encoder(), "--wait")

    def test_the_card_says_how_to_have_it_again(self, world):
        for i in range(8):
            Dialogue.objects.create(campaign=world.campaign, key=f"d{i}", turns=[f"w{i}", f"w{i} w3 good", "w4", "w5 good"])
        version = ComparatorVersion.objects.get(name=self.trained()["comparator"])
        assert version.settings["teacher"] == tiny_encoder() and version.metrics["learnt_from"]["exchanges"] == 8 * 3
        assert not (selectors.folder(version) / "teacher").exists()
        words = f"--encoder {tiny_encoder()} --teacher {tiny_encoder()} --seed 0"
        assert card_view.again(version, world.alice).endswith(words)

    def test_without_conversations_it_is_refused(self, world):
        with pytest.raises(CommandError, match="A teacher learns from conversations first. There are none"):
            self.trained()
        assert not ComparatorVersion.objects.exists()


class TestChitchat:
    def test_what_one_speaker_says_is_a_turn_and_nothing_else_stays(self, world):
        document = chat([("Ann", "hello"), ("Ann", " how are you? "), ("Bob", "  "), ("Bob", "fine")], [("Ann", "anyone?")])
        document["c0"]["messages"][0].append({"text": "Bob!", "timestamp": "2018-05-02T19:38:16Z", "sender": "Ann"})
        said = command("import_dialogues", "talk", written(world, document))
        assert said == {"rows": 1, "new": {"dialogues": 1}, "dry_run": False}
        stored = Dialogue.objects.get()
        assert (stored.key, stored.turns) == ("c0", ["hello Bob! how are you?", "fine"]) and stored.references == []

    @pytest.mark.parametrize(
        "document, sentence",
        [
            ([{"turns": ["a", "b"]}], "dataset.json: expected JSON lines of"),
            ({}, "dataset.json: expected JSON lines of"),
            ({"c0": {"utterances": []}}, "dataset.json, field 'c0': expected JSON lines of"),
            ({"c0": {"messages": [[{"text": "hi"}]]}}, "field 'c0.messages[0]': expected a message .* sender is missing"),
            ({"c0": {"messages": [["hi"]]}}, r"field 'c0.messages\[0\]': expected a message"),
            ({"c0": {"messages": [[{"sender": "a", "text": 3}]]}}, "text is missing"),
            (chat([("Ann", "a\0b"), ("Bob", "c")]), "field 'turns': holds a NUL"),
        ],
    )
    def test_another_shape_is_named_by_file_and_field(self, world, document, sentence):
        with pytest.raises(CommandError, match=sentence.replace("messages[0]'", r"messages\[0\]'")):
            call_command("import_dialogues", "talk", written(world, document))
        assert not Dialogue.objects.exists()

    def test_json_lines_may_be_called_json(self, world):
        rows = [{"dialogue_id": f"d{i}", "turns": ["hello", "hi"]} for i in range(2)]
        for number in (1, 2):
            call_command("import_dialogues", "talk", str(write(world.folder, "rows.json", rows[:number])))
        assert Dialogue.objects.count() == 2
        (world.folder / "rows.json").write_text('{"dialogue_id": ')
        with pytest.raises(CommandError, match="rows.json, line 1: is not JSON"):
            call_command("import_dialogues", "talk", str(world.folder / "rows.json"))

    def test_an_upload_is_read_likewise(self, world):
        with open(written(world, chat([("Ann", "hello"), ("Bob", "hi")])), "rb") as file:
            world.post(world.alice, "/c/talk/comparator/dialogues/", {"file": file})
        assert Dialogue.objects.get().turns == ["hello", "hi"]
