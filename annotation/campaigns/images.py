"""Pictures that a campaign's texts show: sent by a researcher, kept by name beside the database, never changed."""

import re
import shutil
from pathlib import Path

from django.conf import settings

from annotation.models import AuditEvent, Campaign
from core.errors import Refused

NAME = re.compile(r"\w[\w.-]{0,98}\.(?:png|jpg|jpeg|gif|webp)", re.ASCII | re.IGNORECASE)
SHOWN = re.compile(rf"!\[[^][\n]*\]\(\s*({NAME.pattern})", re.ASCII | re.IGNORECASE)  # in a text in Markdown
LARGEST = 5 * 2**20  # bytes
# How files of a kind begin. SVG is left out: it can hold scripts.
BEGINNINGS = {
    "image/png": re.compile(rb"\x89PNG\r\n\x1a\n"),
    "image/jpeg": re.compile(rb"\xff\xd8\xff"),
    "image/gif": re.compile(rb"GIF8[79]a"),
    "image/webp": re.compile(rb"RIFF.{4}WEBP", re.DOTALL),
}
TYPES = {"png": "image/png", "jpg": "image/jpeg", "jpeg": "image/jpeg", "gif": "image/gif", "webp": "image/webp"}


def folder_of(campaign: Campaign) -> Path:
    return Path(settings.IMAGES_DIR) / str(campaign.pk)


def content_type(name: str) -> str:
    return TYPES[name.rsplit(".", 1)[1].lower()]


def image_names(campaign: Campaign) -> list[str]:
    folder = folder_of(campaign)
    return sorted(path.name for path in folder.iterdir() if NAME.fullmatch(path.name)) if folder.is_dir() else []


def images_in(campaign: Campaign, text: str) -> frozenset[str]:
    """Of the names of images in the text, those that the campaign has."""
    folder = folder_of(campaign)
    return frozenset(name for name in SHOWN.findall(text) if (folder / name).is_file()) if "![" in text else frozenset()


def store_images(campaign: Campaign, files, user=None) -> int:
    """Keep them all, or none where one is refused; returns how many are new. A name keeps its picture: people may have
    answered with it before their eyes."""
    new = {}
    for file in files:
        content = _checked(file)
        path = folder_of(campaign) / file.name
        if path.exists() and path.read_bytes() != content or new.get(path, content) != content:
            raise Refused(f"{file.name}: another picture has this name already; give the new one another.")
        if not path.exists():
            new[path] = content
    folder_of(campaign).mkdir(parents=True, exist_ok=True)
    for path, content in new.items():
        part = path.with_name(f".{path.name}")
        part.write_bytes(content)
        part.replace(path)  # half a picture never takes the name
    if new:
        detail = {"file": ", ".join(sorted(path.name for path in new))[:500], "kind": "images", "rows": len(new)}
        AuditEvent.objects.create(campaign=campaign, user=user, action="import", detail=detail)
    return len(new)


def copy_images(campaign: Campaign, copy: Campaign) -> None:
    if folder_of(campaign).is_dir():
        shutil.copytree(folder_of(campaign), folder_of(copy), dirs_exist_ok=True)


def _checked(file) -> bytes:
    if not NAME.fullmatch(file.name):
        raise Refused(
            f"{file.name}: a picture's name has letters, digits, hyphens, dots and underscores, "
            "and ends in .png, .jpg, .gif or .webp."
        )
    if file.size > LARGEST:
        raise Refused(f"{file.name}: {file.size / 2**20:.1f} MB; a picture may have 5 MB.")
    content = file.read()
    if not BEGINNINGS[content_type(file.name)].match(content):
        kind = content_type(file.name).removeprefix("image/").upper()
        raise Refused(f"{file.name}: this is not what its name says, a picture of the kind {kind}.")
    return content
