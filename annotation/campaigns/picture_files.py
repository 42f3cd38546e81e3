"""Files of pictures without what they tell beside the picture: where, when, by whom and with which program it was made.

Only whole parts of a file are left out; nothing is drawn anew. Raises ValueError where a file is not built as its kind is.
References: PNG (W3C 2003, third edition), JPEG (ITU-T T.81, annex B) with Exif 2.32, GIF89a, WebP (RFC 9649).
"""

import struct

PNG_KEPT = set(b"IHDR PLTE IDAT IEND tRNS gAMA cHRM sRGB iCCP cICP sBIT bKGD hIST pHYs".split())
PNG_KEPT |= {b"acTL", b"fcTL", b"fdAT"}  # of animations
WEBP_KEPT = {b"VP8 ", b"VP8L", b"VP8X", b"ALPH", b"ANIM", b"ANMF", b"ICCP"}
WEBP_SAYS_METADATA = 0x08 | 0x04  # flags of VP8X: Exif, XMP
GIF_LOOPS = (b"NETSCAPE2.0", b"ANIMEXTS1.0")
ORIENTATION = 0x0112  # tag of Exif: which way up the picture is


def bare(content: bytes, kind: str) -> bytes:
    """kind: "image/png", "image/jpeg", "image/gif" or "image/webp"."""
    try:
        return OF_KIND[kind](content)
    except (struct.error, IndexError) as error:
        raise ValueError("it ends in the middle") from error


def _png(content: bytes) -> bytes:
    kept, at = [content[:8]], 8
    while True:
        length, name = struct.unpack_from(">I4s", content, at)
        end = at + 12 + length
        if end > len(content):
            raise ValueError("it ends in the middle")
        if name in PNG_KEPT:
            kept.append(content[at:end])
        if name == b"IEND":
            return b"".join(kept)
        at = end


def _jpeg(content: bytes) -> bytes:
    kept, at = [content[:2]], 2
    while True:
        if content[at] != 0xFF:
            raise ValueError("a segment has no marker")
        marker = content[at + 1]
        if marker == 0xFF:  # fills
            at += 1
            continue
        if marker == 0xD9:
            return b"".join([*kept, b"\xff\xd9"])
        end = at + 2 + struct.unpack_from(">H", content, at + 2)[0]
        if end > len(content):
            raise ValueError("it ends in the middle")
        kept.append(_jpeg_segment(marker, content[at:end]))
        if marker == 0xDA:
            scan = _end_of_scan(content, end)
            kept.append(content[end:scan])
            end = scan
        at = end


def _jpeg_segment(marker: int, segment: bytes) -> bytes:
    data = segment[4:]
    if marker == 0xE1:
        return _orientation(data) if data.startswith(b"Exif\0\0") else b""
    if marker == 0xE2:
        return segment if data.startswith(b"ICC_PROFILE\0") else b""
    told = marker == 0xFE or (0xE0 <= marker <= 0xEF and marker not in (0xE0, 0xEE))  # JFIF and Adobe say how to draw it
    return b"" if told else segment


def _end_of_scan(content: bytes, at: int) -> int:
    """Where the next marker stands that is neither a stuffed 0xFF nor a restart."""
    while True:
        at = content.index(b"\xff", at)
        if content[at + 1] != 0 and not 0xD0 <= content[at + 1] <= 0xD7:
            return at
        at += 2


def _orientation(exif: bytes) -> bytes:
    """A segment of Exif with nothing but the orientation, empty where the picture stands upright."""
    order = {b"II": "<", b"MM": ">"}.get(exif[6:8])
    if order is None:
        return b""
    try:
        (first,) = struct.unpack_from(f"{order}I", exif, 10)
        (count,) = struct.unpack_from(f"{order}H", exif, 6 + first)
        entries = [struct.unpack_from(f"{order}HHIH", exif, 8 + first + 12 * n) for n in range(count)]
    except struct.error:
        return b""
    turned = next((value for tag, kind, _, value in entries if tag == ORIENTATION and kind == 3), 1)
    if not 2 <= turned <= 8:
        return b""
    body = b"Exif\0\0MM\0*" + struct.pack(">IHHHIHHI", 8, 1, ORIENTATION, 3, 1, turned, 0, 0)
    return b"\xff\xe1" + struct.pack(">H", len(body) + 2) + body


def _gif(content: bytes) -> bytes:
    at = 13 + _colours(content[10])
    kept = [content[:at]]
    while True:
        start, block = at, content[at]
        if block == 0x3B:
            return b"".join([*kept, b"\x3b"])
        if block == 0x2C:
            at = _end_of_blocks(content, at + 10 + _colours(content[at + 9]) + 1)
            kept.append(content[start:at])
        elif block == 0x21:
            label, at = content[at + 1], _end_of_blocks(content, at + 2)
            is_loop = label == 0xFF and content[start + 3 : start + 14] in GIF_LOOPS
            if label in (0xF9, 0x01) or is_loop:  # how the next picture is drawn, and a text that is drawn
                kept.append(content[start:at])
        else:
            raise ValueError("a block has no name")


def _colours(flags: int) -> int:
    """Bytes of a table of colours."""
    return 3 * 2 ** ((flags & 7) + 1) if flags & 0x80 else 0


def _end_of_blocks(content: bytes, at: int) -> int:
    while content[at]:
        at += 1 + content[at]
    return at + 1


def _webp(content: bytes) -> bytes:
    kept, at = [], 12
    while at < len(content):
        name, length = struct.unpack_from("<4sI", content, at)
        end = at + 8 + length
        if end > len(content):
            raise ValueError("it ends in the middle")
        chunk = content[at:end]
        if name == b"VP8X":
            chunk = chunk[:8] + bytes([chunk[8] & ~WEBP_SAYS_METADATA]) + chunk[9:]
        if name in WEBP_KEPT:
            kept.append(chunk + b"\0" * (length % 2))
        at = end + length % 2
    if not kept:
        raise ValueError("it ends in the middle")
    body = b"WEBP" + b"".join(kept)
    return b"RIFF" + struct.pack("<I", len(body)) + body


OF_KIND = {"image/png": _png, "image/jpeg": _jpeg, "image/gif": _gif, "image/webp": _webp}
