"""Files of pictures lose what they tell and keep what is drawn; built by hand, after each kind's specification."""

import struct

import pytest

from annotation.campaigns.picture_files import bare

SECRET = b"made by GPT-4"
SCAN = b"\xff\xda\x00\x02" + b"\x11\xff\x00\x22\xff\xd0\x33"  # with a stuffed 0xFF and a restart


def segment(marker: int, data: bytes) -> bytes:
    return bytes([0xFF, marker]) + struct.pack(">H", len(data) + 2) + data


def exif(order: str, turned: int) -> bytes:
    """One of two entries is the orientation; the other one is told elsewhere in the file."""
    name = b"II" if order == "<" else b"MM"
    entries = struct.pack(f"{order}HHII", 0x0131, 2, len(SECRET), 38) + struct.pack(f"{order}HHIHH", 0x0112, 3, 1, turned, 0)
    return segment(
        0xE1, b"Exif\0\0" + name + struct.pack(f"{order}HIH", 42, 8, 2) + entries + struct.pack(f"{order}I", 0) + SECRET
    )


JFIF, TABLE = segment(0xE0, b"JFIF\0\1\1\0\0\1\0\1\0\0"), segment(0xDB, b"\0" * 65)
ICC, COMMENT = segment(0xE2, b"ICC_PROFILE\0\1\1x"), segment(0xFE, SECRET)


def jpeg(*segments: bytes, after: bytes = b"") -> bytes:
    return b"\xff\xd8" + b"".join(segments) + SCAN + COMMENT + SCAN + b"\xff\xd9" + after


class TestJpeg:
    @pytest.mark.parametrize("order", ["<", ">"])
    def test_only_the_way_up_is_kept_of_exif(self, order):
        found = bare(jpeg(JFIF, exif(order, 6), ICC, COMMENT, TABLE, after=SECRET), "image/jpeg")
        drawn = b"\xff\xd8" + JFIF + found[2 + len(JFIF) : 2 + len(JFIF) + 36] + ICC + TABLE + SCAN + SCAN + b"\xff\xd9"
        assert found == drawn and SECRET not in found
        tiff = found[2 + len(JFIF) + 10 :]
        assert struct.unpack(">2sHIHHHIH", tiff[:20]) == (b"MM", 42, 8, 1, 0x0112, 3, 1, 6)

    def test_one_that_stands_upright_needs_none(self):
        assert bare(jpeg(JFIF, exif("<", 1), TABLE), "image/jpeg") == b"\xff\xd8" + JFIF + TABLE + SCAN + SCAN + b"\xff\xd9"

    def test_damaged_exif_is_left_out(self):
        broken = segment(0xE1, b"Exif\0\0II*\0\xff\xff\xff\x7f")
        assert SECRET not in bare(jpeg(broken, COMMENT), "image/jpeg")


def test_a_gif_keeps_its_pictures_and_how_they_loop():
    screen = b"GIF89a" + struct.pack("<HHBBB", 1, 1, 0x80, 0, 0) + b"\0\0\0\xff\xff\xff"
    loops, control = b"\x21\xff\x0bNETSCAPE2.0\x03\x01\0\0\0", b"\x21\xf9\x04\0\0\0\0\0"
    picture = b"\x2c" + struct.pack("<HHHHB", 0, 0, 1, 1, 0) + b"\x02\x02\x44\x01\0"
    comment, xmp = b"\x21\xfe\x0d" + SECRET + b"\0", b"\x21\xff\x0bXMP DataXMP\x0d" + SECRET + b"\0"
    told = screen + loops + comment + control + picture + xmp + b"\x3b" + SECRET
    assert bare(told, "image/gif") == screen + loops + control + picture + b"\x3b"


def test_a_webp_loses_exif_and_xmp_and_says_so():
    def chunk(name: bytes, data: bytes) -> bytes:
        return name + struct.pack("<I", len(data)) + data + b"\0" * (len(data) % 2)

    def riff(*chunks: bytes) -> bytes:
        body = b"WEBP" + b"".join(chunks)
        return b"RIFF" + struct.pack("<I", len(body)) + body

    picture, header = chunk(b"VP8 ", b"\0\1\2"), b"\0\0\0\0\0\0\0\0\0"
    told = riff(chunk(b"VP8X", b"\x2c" + header), picture, chunk(b"EXIF", SECRET), chunk(b"XMP ", SECRET))
    assert bare(told, "image/webp") == riff(chunk(b"VP8X", b"\x20" + header), picture)


@pytest.mark.parametrize("kind", ["image/png", "image/jpeg", "image/gif", "image/webp"])
@pytest.mark.parametrize(
    "content", [b"\x89PNG\r\n\x1a\n\0\0\0", b"\xff\xd8\xff\xe0\0", b"GIF89a\1", b"RIFF\0\0\0\0WEBPVP8 \xff\0\0\0"]
)
def test_what_ends_in_the_middle_is_refused(kind, content):
    with pytest.raises(ValueError):
        bare(content, kind)
