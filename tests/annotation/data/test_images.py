"""Pictures that texts show: what is taken, who sees them, what stays out."""

import hashlib
import os
import struct
import zlib

import pytest
from django.core.files.uploadedfile import SimpleUploadedFile

from annotation.campaigns.images import LARGEST, folder_of, image_names, images_in, shown_file
from annotation.campaigns.lifecycle import duplicate_campaign
from annotation.models import Campaign, Output
from tests.annotation.pages import PNG, World, text

pytestmark = pytest.mark.django_db
SHOWN = f"{hashlib.sha256(PNG).hexdigest()[:32]}.png"


def chunk(name: bytes, data: bytes) -> bytes:
    return struct.pack(">I", len(data)) + name + data + struct.pack(">I", zlib.crc32(name + data))


TELLING = PNG[:33] + chunk(b"tEXt", b"Author\0GPT-4") + PNG[33:] + b"after the end"


@pytest.fixture
def world(tmp_path, client, settings):
    settings.IMAGES_DIR = tmp_path / "images"
    world = World(tmp_path, client)
    Campaign.objects.update(text_format="markdown")
    world.campaign.refresh_from_db()
    return world


def send(world, *files):
    sent = [SimpleUploadedFile(name, content) for name, content in files]
    return text(world.sign_in(world.alice).client.post("/c/talk/images/", {"images": sent}, follow=True))


def test_a_picture_is_sent_and_seen_in_a_text(world):
    assert "1 new image; 0 were stored before." in send(world, ("cat.png", PNG))
    Output.objects.update(text="![A cat](cat.png) ![none](dog.png)")
    page = text(world.sign_in(world.bob).get("annotate/?start=1"))
    assert f'<img src="/c/talk/images/{SHOWN}" alt="A cat" loading="lazy">' in page and "[image: none (dog.png)]" in page
    assert "cat.png" not in page
    seen = world.get(f"images/{SHOWN}")
    assert b"".join(seen.streaming_content) == PNG and seen["Content-Type"] == "image/png"
    assert seen["X-Content-Type-Options"] == "nosniff" and "private" in seen["Cache-Control"]


def test_the_same_again_changes_nothing_and_another_is_refused(world):
    send(world, ("cat.png", PNG))
    assert "0 new images; 1 was stored before." in send(world, ("cat.png", PNG))
    other = PNG[:33] + chunk(b"pHYs", b"\0\0\0\1\0\0\0\1\1") + PNG[33:]
    assert "cat.png: another picture has this name already" in send(world, ("dog.png", PNG), ("cat.png", other))
    assert image_names(world.campaign) == ["cat.png"]


@pytest.mark.parametrize(
    "name, content, why",
    [
        ("a.svg", b"<svg onload=alert(1)>", "a picture&#x27;s name has letters"),
        ("a.png", b"<script>alert(1)</script>", "not what its name says, a picture of the kind PNG"),
        ("a.jpg", PNG, "a picture of the kind JPEG"),
        (".png", PNG, "a picture&#x27;s name has letters"),
        ("a.png", PNG[:-20], "the picture is damaged (it ends in the middle)"),
        ("a b.png", PNG, "a picture&#x27;s name has letters"),
        ("big.png", PNG + b"0" * LARGEST, "a picture may have 5 MB"),
    ],
)
def test_what_is_no_picture_is_refused_with_all_the_others(world, name, content, why):
    page = send(world, ("fine.png", PNG), (name, content))
    assert why in page and "No image was stored." in page and image_names(world.campaign) == []


def test_only_those_who_see_the_texts_see_them(world):
    send(world, ("cat.png", PNG))
    Output.objects.update(text="![A cat](cat.png)")
    world.sign_in(world.bob).get("annotate/?start=1")
    for name in ("cat.png", SHOWN):
        assert world.sign_in(world.charlie).get(f"images/{name}").status_code == 404
        assert world.sign_in(world.alice).get(f"images/{name}").status_code == 200
    assert world.sign_in(world.bob).get("images/cat.png").status_code == 404
    assert world.get(f"images/{SHOWN}").status_code == 200
    for user in (world.bob, world.charlie):
        assert world.sign_in(user).post("images/", {"images": [SimpleUploadedFile("b.png", PNG)]}).status_code == 404
    world.client.logout()
    assert "/login/" in world.get("images/cat.png").url and image_names(world.campaign) == ["cat.png"]


@pytest.mark.parametrize("name", ["dog.png", "..%2Fcat.png", "%2e%2e%2f1%2fcat.png", "cat.png%00", ".png"])
def test_no_other_file_is_given_out(world, name):
    send(world, ("cat.png", PNG))
    assert world.sign_in(world.bob).get(f"images/{name}").status_code in (400, 404)


def test_a_copy_with_texts_has_them_too(world):
    send(world, ("cat.png", PNG))
    assert image_names(duplicate_campaign(world.campaign, slug="bare")) == []
    assert image_names(duplicate_campaign(world.campaign, slug="full", with_texts=True)) == ["cat.png"]


def test_annotators_see_neither_the_name_nor_what_the_file_tells(world):
    send(world, ("GPT-4_answer.png", TELLING))
    Output.objects.update(text="![It](GPT-4_answer.png)")
    seen = b"".join(world.sign_in(world.bob).get(f"images/{SHOWN}").streaming_content or ()) if _is_shown(world) else b""
    assert seen == PNG
    task = world.client.post("/api/tasks/talk/next/")
    assert task.status_code == 200 and "GPT-4" not in task.content.decode() and SHOWN in task.content.decode()
    assert "0 new images; 1 was stored before." in send(world, ("GPT-4_answer.png", TELLING))


def _is_shown(world) -> bool:
    page = text(world.sign_in(world.bob).get("annotate/?start=1"))
    return SHOWN in page and "GPT-4" not in page


def test_pictures_of_before_are_shown_without_what_they_tell(world):
    folder = folder_of(world.campaign)
    folder.mkdir(parents=True)
    (folder / "old.png").write_bytes(TELLING)
    assert images_in(world.campaign, "![x](old.png)") == {"old.png": SHOWN}
    shown_file(world.campaign, SHOWN).unlink()  # as after a restored backup
    assert images_in(world.campaign, "![x](old.png)") == {"old.png": SHOWN}
    assert shown_file(world.campaign, SHOWN).read_bytes() == PNG


def test_of_two_that_come_at_once_under_one_name_one_is_refused(world, monkeypatch):
    other = PNG[:33] + chunk(b"pHYs", b"\0\0\0\1\0\0\0\1\1") + PNG[33:]
    link = os.link

    def somebody_is_quicker(part, path):
        path.write_bytes(other)
        link(part, path)

    monkeypatch.setattr(os, "link", somebody_is_quicker)
    assert "cat.png: another picture has this name already" in send(world, ("cat.png", PNG))
    assert (folder_of(world.campaign) / "cat.png").read_bytes() == other
