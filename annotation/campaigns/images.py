"""Pictures that a campaign's texts show: sent by a researcher, kept by name beside the database, never changed.

Texts name them, and names may tell who made what they show. So pages fetch a picture by its digest, and only researchers may
fetch it by its name. What a file tells beside the picture is left out when it comes.
"""

import hashlib
import os
import re
import shutil
import uuid
from functools import lru_cache
from pathlib import Path

from django.conf import settings

from annotation.campaigns.picture_files import bare
from annotation.models import AuditEvent, Campaign
from core.errors import Refused

NAME = re.compile(r"\w[\w.-]{0,98}\.(?:png|jpg|jpeg|gif|webp)", re.ASCII | re.IGNORECASE)
SHOWN = re.compile(rf"!\[[^][\n]*\]\(\s*({NAME.pattern})", re.ASCII | re.IGNORECASE)  # in a text in Markdown
SHOWN_FOLDER = ".shown"  # the same pictures by digest; made anew where they are missing
DIGEST = re.compile(r"[0-9a-f]{32}\.(?:png|jpg|jpeg|gif|webp)", re.ASCII)
LARGEST = 5 * 2**20  # bytes
# How files of a kind begin. SVG is left out: it can hold scripts.
BEGINNINGS = {
    "image/png": re.compile(rb"\x89PNG\r\n\x1a\n"),
    "image/jpeg": re.compile(rb"\xff\xd8\xff"),
    "image/gif": re.compile(rb"GIF8[79]a"),
    "image/webp": re.compile(rb"RIFF.{4}WEBP", re.DOTALL),
}
TYPES = {"png": "image/png", "jpg": "image/jpeg", "jpeg": "image/jpeg", "gif": "image/gif", "webp": "image/webp"}


ANOTHER = "{name}: another picture has this name already; give the new one another."


def folder_of(campaign: Campaign) -> Path:
    return Path(settings.IMAGES_DIR) / str(campaign.pk)


def content_type(name: str) -> str:
    return TYPES[name.rsplit(".", 1)[1].lower()]


def image_names(campaign: Campaign) -> list[str]:
    folder = folder_of(campaign)
    return sorted(path.name for path in folder.iterdir() if NAME.fullmatch(path.name)) if folder.is_dir() else []


def images_in(campaign: Campaign, text: str) -> dict[str, str]:
    """Of the names of images in the text, those that the campaign has, each with the name by which pages fetch it."""
    names = {name for name in SHOWN.findall(text) if (folder_of(campaign) / name).is_file()} if "![" in text else set()
    return {name: _shown_name(folder_of(campaign) / name) for name in names}


def unnamed(campaign: Campaign, text: str) -> str:
    """The text as programs of annotators get it: its pictures by the names by which they are fetched."""
    shown_as_pictures = campaign.text_format == Campaign.TextFormat.MARKDOWN
    for name, shown in images_in(campaign, text).items() if shown_as_pictures else ():
        text = text.replace(f"({name}", f"({shown}")
    return text


def shown_file(campaign: Campaign, name: str) -> Path | None:
    """The picture that pages fetch by this name."""
    path = folder_of(campaign) / SHOWN_FOLDER / name
    return path if DIGEST.fullmatch(name) and path.is_file() else None


def _shown_name(path: Path) -> str:
    status = path.stat()
    name = _digest_name(path, status.st_mtime_ns, status.st_size)
    if not (path.parent / SHOWN_FOLDER / name).is_file():  # another process has read it, or a backup was restored
        _digest_name.cache_clear()
        name = _digest_name(path, status.st_mtime_ns, status.st_size)
    return name


@lru_cache(maxsize=10_000)
def _digest_name(path: Path, changed: int, size: int) -> str:
    """Keep the picture by its digest, too. Pictures of before this was done are kept there without what they tell."""
    content = path.read_bytes()
    try:
        content = bare(content, content_type(path.name))
    except ValueError:
        pass  # of before this was checked; it is shown as it is
    name = f"{hashlib.sha256(content).hexdigest()[:32]}.{path.suffix[1:].lower()}"
    folder = path.parent / SHOWN_FOLDER
    folder.mkdir(exist_ok=True)
    _write_once(folder / name, content)
    return name


def _write_once(path: Path, content: bytes) -> bool:
    """False where the name is taken, also by somebody who writes at this moment: half a picture never takes it."""
    part = path.with_name(f".{uuid.uuid4().hex}")
    part.write_bytes(content)
    try:
        os.link(part, path)
    except FileExistsError:
        return False
    finally:
        part.unlink()
    return True


def store_images(campaign: Campaign, files, user=None) -> int:
    """Keep them all, or none where one is refused; returns how many are new. A name keeps its picture: people may have
    answered with it before their eyes."""
    new = {}
    for file in files:
        content = _checked(file)
        path = folder_of(campaign) / file.name
        if path.exists() and not _is_same(path, content) or new.get(path, content) != content:
            raise Refused(ANOTHER.format(name=file.name))
        if not path.exists():
            new[path] = content
    folder_of(campaign).mkdir(parents=True, exist_ok=True)
    written: list[Path] = []
    for path, content in new.items():
        if _write_once(path, content):
            written.append(path)
        elif not _is_same(path, content):  # somebody sent another one at the same moment
            for mine in written:
                mine.unlink()
            raise Refused(ANOTHER.format(name=path.name))
    if new:
        detail = {"file": ", ".join(sorted(path.name for path in new))[:500], "kind": "images", "rows": len(new)}
        AuditEvent.objects.create(campaign=campaign, user=user, action="import", detail=detail)
    return len(new)


def copy_images(campaign: Campaign, copy: Campaign) -> None:
    if folder_of(campaign).is_dir():
        shutil.copytree(folder_of(campaign), folder_of(copy), dirs_exist_ok=True)


def _is_same(path: Path, content: bytes) -> bool:
    """Also where the one that is there still has what its file told."""
    there = path.read_bytes()
    try:
        return content in (there, bare(there, content_type(path.name)))
    except ValueError:
        return False


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
    try:
        return bare(content, content_type(file.name))
    except ValueError as error:
        raise Refused(f"{file.name}: the picture is damaged ({error}).") from None
