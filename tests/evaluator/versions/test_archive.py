"""Download a comparator, upload it elsewhere; whatever is wrong with a file is refused in one sentence."""

import copy
import hashlib
import io
import json
import os
import shutil
import zipfile

import pytest
from django.test import override_settings
from safetensors.torch import load, save

from annotation import jobs
from annotation.models import Job
from evaluator import tasks
from evaluator.judges.texts import Text
from evaluator.models import ComparatorVersion
from evaluator.trainings.services import start_training
from evaluator.versions import admission, archive, registry
from evaluator.worker import card, comparators
from tests.evaluator.packed import changed, upload
from tests.evaluator.world import World, recipe

pytestmark = pytest.mark.one_database


@pytest.fixture(scope="module")
def trained(made_world, django_db_blocker, tmp_path_factory):
    """(a version, the folder of its models, its zip): trained once, in the transaction of the module's world."""
    folder = tmp_path_factory.mktemp("models")
    with django_db_blocker.unblock(), override_settings(MODELS_DIR=folder):
        version = tasks.run(start_training([made_world.campaign], foreground=True, recipe=recipe(epochs=1)).job_id)
        return version, folder, archive.pack(version, folder / version.name, version.metrics).read()


@pytest.fixture
def version(trained, world, models_dir):
    version, folder, _ = trained
    shutil.copytree(folder, models_dir)
    return copy.deepcopy(version)


@pytest.fixture
def packed(version, trained) -> bytes:
    return trained[2]


def test_what_comes_back_judges_the_same(world, version, packed, models_dir, tmp_path):
    texts = [Text(("w1 w2",), "w3 good"), Text(tuple(world.rows[0]["context"]), world.rows[0]["output"])]
    before = comparators.load(version).utilities(texts)
    registry.retire(world.campaign, version)
    ComparatorVersion.objects.filter(pk=version.pk).update(metrics=version.metrics | {"fingerprint": "another"})
    (tmp_path / "there").mkdir()
    there = World(tmp_path / "there", slug="there")
    job = upload(there, packed)
    assert job.status == Job.Status.DONE, job.error
    came = there.campaign.comparators.get()
    assert came.run is None and came.settings["uploaded"] == version.name and came.code == version.code
    assert (comparators.load(came).utilities(texts) == before).all()
    assert registry.comparator_in_use(there.campaign) is None and came.gates["there"]
    assert not list(models_dir.glob(".upload-*")) and not list(models_dir.glob(f".run-{job.pk}"))


def test_the_same_comparator_is_not_entered_twice(world, version, packed):
    assert upload(world, packed).status == Job.Status.DONE
    assert ComparatorVersion.objects.count() == 1


def edited(packed: bytes) -> dict:
    """Another member, named in comparator.json under the fingerprint of the old."""
    with zipfile.ZipFile(io.BytesIO(packed)) as archive:
        record, weights = json.loads(archive.read("comparator.json")), load(archive.read("member-0.safetensors"))
    weights = save({name: -tensor for name, tensor in weights.items()})
    members = [hashlib.sha256(weights).hexdigest(), *record["members"][1:]]
    return {"member-0.safetensors": weights, "comparator_json": json.dumps(record | {"members": members})}


def other_words(packed: bytes) -> dict:
    """The same weights behind a tokenizer that takes "good" for "bad"."""
    with zipfile.ZipFile(io.BytesIO(packed)) as archive:
        told = json.loads(archive.read("encoder/tokenizer.json"))
    words = told["model"]["vocab"]
    words["good"], words["bad"] = words["bad"], words["good"]
    return {"encoder__tokenizer_json": json.dumps(told)}


@pytest.mark.parametrize("change", [edited, other_words])
def test_other_files_under_a_known_fingerprint_are_a_version_of_their_own(world, version, packed, tmp_path, change):
    (tmp_path / "there").mkdir()
    there = World(tmp_path / "there", slug="there")
    data = changed(packed, **change(packed))
    for _ in range(2):  # the second time it is the one that is there
        job = upload(there, data)
        assert job.status == Job.Status.DONE, job.error
    came = there.campaign.comparators.get()
    assert came != version and list(version.campaigns.all()) == [world.campaign]
    texts = [Text(("w1 w2",), "w3 good")]
    assert comparators.load(came).utilities(texts) != comparators.load(version).utilities(texts)


def test_one_whose_files_were_lost_comes_back_from_its_zip(world, version, packed, models_dir):
    shutil.rmtree(models_dir / version.name)
    assert upload(world, packed).status == Job.Status.DONE
    came = world.campaign.comparators.exclude(pk=version.pk).get()
    assert comparators.load(came).utilities([Text(("w1 w2",), "w3 good")]).shape == (1,)


@pytest.mark.parametrize(
    "what, sentence",
    [
        ({"comparator_json": None}, "holds no comparator.json"),
        ({"card_json": "{}"}, "card.json lacks what a comparator's card says: name, criterion"),
        ({"card_json": "[]"}, "it is no JSON object"),
        ({"card_json": "not JSON"}, "it is not JSON"),
        ({f"encoder__{'x' * 300}_json": "{}"}, "A comparator has no file"),
        ({"member-0.pt": b"\x80pickle"}, "A comparator has no file 'member-0.pt'"),
        ({"run_json": "[]"}, "A comparator has no file 'run.json'"),
        ({"..__outside_json": "{}"}, "A comparator has no file '../outside.json'"),
        ({"encoder__tokenizer_config_json": '{"auto_map": {"AutoTokenizer": "evil.py"}}'}, "asks to run its own code"),
        ({"encoder__tokenizer_config_json": '{"a": [{"b": {"auto_map": {}}}]}'}, "asks to run its own code"),
        ({"encoder__tokenizer_config_json": '{"a":' * 100_000 + "1" + "}" * 100_000}, "cannot be read as JSON"),
        ({"member-0.safetensors": b"short"}, "its SHA-256 differs"),
        ({"comparator_json": '{"format": 99}'}, "is not of format 6"),
    ],
)
def test_a_file_that_is_no_comparator_changes_nothing(world, packed, models_dir, what, sentence):
    there = {path.name for path in models_dir.iterdir()}
    job = upload(world, changed(packed, **what))
    assert job.status == Job.Status.FAILED and sentence in job.error, job.error
    assert ComparatorVersion.objects.count() == 1 and {path.name for path in models_dir.iterdir()} == there


@pytest.mark.parametrize(
    "sizes, sentence",
    [
        ({"vocab_size": 10**12}, "names the size vocab_size 1e+12"),
        ({"vocab_size": 10**400}, "names the size vocab_size 1e+300"),
        ({"num_hidden_layers": 10**6}, "names the size num_hidden_layers"),
        ({"vocab_size": 10**6, "hidden_size": 4096}, "numbers, but its weights hold"),
    ],
)
def test_sizes_beyond_its_weights_are_refused_before_memory_is_taken(world, packed, models_dir, sizes, sentence):
    with zipfile.ZipFile(io.BytesIO(packed)) as archive:
        config = json.loads(archive.read("encoder/config.json"))
    job = upload(world, changed(packed, encoder__config_json=json.dumps(config | sizes)))
    assert job.status == Job.Status.FAILED and sentence in job.error, job.error
    assert not list(models_dir.glob(".upload-*"))


def test_a_bomb_is_refused_before_it_is_unpacked(world, packed, models_dir):
    out = io.BytesIO(packed)
    with zipfile.ZipFile(out, "a", zipfile.ZIP_DEFLATED) as archive:
        archive.writestr("member-99.json", b" " * 4 * 2**20)
    assert "grows more than 50 times" in upload(world, out.getvalue()).error
    assert not list(models_dir.glob(".upload-*"))


@pytest.mark.parametrize("packing", [zipfile.ZIP_BZIP2, zipfile.ZIP_LZMA])
def test_a_zip_that_is_packed_in_another_way_is_refused(world, packed, models_dir, packing):
    out = io.BytesIO()
    with zipfile.ZipFile(io.BytesIO(packed)) as old, zipfile.ZipFile(out, "w", packing) as new:
        for name in old.namelist():
            new.writestr(name, old.read(name))
    assert "is packed in an unusual way" in upload(world, out.getvalue()).error
    assert not list(models_dir.glob(".upload-*"))


def test_a_check_that_breaks_leaves_no_file(world, packed, models_dir, monkeypatch):
    from evaluator.worker import admit

    monkeypatch.setattr(admit, "identity", lambda folder: 1 / 0)
    with pytest.raises(ZeroDivisionError):
        upload(world, packed)
    assert not list(models_dir.glob(".upload-*")) and not list(models_dir.glob(".run-*"))


def test_a_tokenizer_of_another_shape_is_refused_in_words(world, packed, models_dir):
    with zipfile.ZipFile(io.BytesIO(packed)) as archive:
        told = json.loads(archive.read("encoder/tokenizer_config.json"))
    told["added_tokens_decoder"] = {"0": {"content": "[PAD]", "special": None}}
    job = upload(world, changed(packed, encoder__tokenizer_config_json=json.dumps(told)))
    assert job.error == "The comparator in this zip cannot be loaded; the log of the worker says why."
    assert not list(models_dir.glob(".upload-*"))


def test_what_a_death_left_goes_a_day_after_its_job_ended(world, packed, models_dir, monkeypatch):
    job = admission.receive(world.campaign, [packed], world.alice)
    waiting = admission.waiting_file(job.pk)
    os.utime(waiting, (0, 0))
    admission.receive(world.campaign, [packed], world.alice)
    assert waiting.exists()  # its job may still be run
    Job.objects.filter(pk=job.pk).update(status=Job.Status.FAILED)
    admission.receive(world.campaign, [packed], world.alice)
    assert not waiting.exists() and len(list(models_dir.glob(".upload-*"))) == 2


@pytest.mark.parametrize("data", [b"", b"PK\x03\x04 not a zip", b"\x00" * 5000])
def test_no_zip_is_refused(world, version, data):
    assert "not a readable zip file" in upload(world, data).error


def test_a_card_whose_numbers_are_missing_is_refused(world, packed):
    with zipfile.ZipFile(io.BytesIO(packed)) as archive:
        card = json.loads(archive.read("card.json"))
    wrong = json.dumps(card | {"settings": card["settings"] | {"beside": 5}})
    assert "beside in the settings is no list" in upload(world, changed(packed, card_json=wrong)).error
    card["metrics"].pop("seconds")
    assert "metrics lack the number seconds" in upload(world, changed(packed, card_json=json.dumps(card))).error


def test_a_worker_that_dies_after_entering_it_is_followed_by_one_that_goes_on(world, packed, models_dir, tmp_path, monkeypatch):
    ComparatorVersion.objects.update(metrics={"fingerprint": "another"})
    (tmp_path / "there").mkdir()
    there = World(tmp_path / "there", slug="there")
    with monkeypatch.context() as killed, pytest.raises(KeyboardInterrupt):
        killed.setattr(card, "measure_here", lambda *_: (_ for _ in ()).throw(KeyboardInterrupt))
        upload(there, packed)
    job = there.campaign.jobs.get(task=admission.TASK)
    came = there.campaign.comparators.get()
    assert (came.measured_here, came.gates) == ({}, {}) and len(list(models_dir.glob(".upload-*"))) == 1

    assert jobs.retry(job)
    tasks.admit(str(job.pk))
    job.refresh_from_db()
    came = there.campaign.comparators.get()
    assert job.status == Job.Status.DONE and came.measured_here["there"] and came.gates["there"]
    assert there.campaign.audit_events.filter(action="comparator uploaded").count() == 1
    assert {path.name for path in models_dir.iterdir()} == set(ComparatorVersion.objects.values_list("name", flat=True))
