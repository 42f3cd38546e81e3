"""Pictures that texts show: what is taken, who sees them, what stays out."""

import pytest
from django.core.files.uploadedfile import SimpleUploadedFile

from annotation.campaigns.images import LARGEST, image_names
from annotation.campaigns.lifecycle import duplicate_campaign
from annotation.models import Campaign, Output
from tests.annotation.pages import World, text

pytestmark = pytest.mark.django_db
PNG = bytes.fromhex(  # one grey pixel
    "89504e470d0a1a0a0000000d49484452000000010000000108000000003a"
    "7e9b550000000a49444154789c636800000082008177cd72b60000000049454e44ae426082"
)


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
    assert '<img src="/c/talk/images/cat.png" alt="A cat" loading="lazy">' in page and "[image: none (dog.png)]" in page
    seen = world.get("images/cat.png")
    assert b"".join(seen.streaming_content) == PNG and seen["Content-Type"] == "image/png"
    assert seen["X-Content-Type-Options"] == "nosniff" and "private" in seen["Cache-Control"]


def test_the_same_again_changes_nothing_and_another_is_refused(world):
    send(world, ("cat.png", PNG))
    assert "0 new images; 1 was stored before." in send(world, ("cat.png", PNG))
    assert "cat.png: another picture has this name already" in send(world, ("dog.png", PNG), ("cat.png", PNG + b"x"))
    assert image_names(world.campaign) == ["cat.png"]


@pytest.mark.parametrize(
    "name, content, why",
    [
        ("a.svg", b"<svg onload=alert(1)>", "a picture&#x27;s name has letters"),
        ("a.png", b"<script>alert(1)</script>", "not what its name says, a picture of the kind PNG"),
        ("a.jpg", PNG, "a picture of the kind JPEG"),
        (".png", PNG, "a picture&#x27;s name has letters"),
        ("a b.png", PNG, "a picture&#x27;s name has letters"),
        ("big.png", PNG + b"0" * LARGEST, "a picture may have 5 MB"),
    ],
)
def test_what_is_no_picture_is_refused_with_all_the_others(world, name, content, why):
    page = send(world, ("fine.png", PNG), (name, content))
    assert why in page and "No image was stored." in page and image_names(world.campaign) == []


def test_only_those_who_see_the_texts_see_them(world):
    send(world, ("cat.png", PNG))
    assert world.sign_in(world.charlie).get("images/cat.png").status_code == 404
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
