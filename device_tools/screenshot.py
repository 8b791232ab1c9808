"""The phone's JPEG made ready for the model: one resize, and the reason when there is none."""

from __future__ import annotations

from device_tools.pictures import PictureRule, decode, encode, resized
from device_tools.result import Image

_BLACK = 8


def prepare_picture(
    raw: bytes, size: tuple[int, int], rule: PictureRule, *, screen_on: bool
) -> tuple[Image | None, tuple[int, int], str]:
    """The picture for the model, the true screen size, and a note when there is no picture.

    ``size`` is returned when the capture failed.
    """
    picture = decode(raw)
    if picture is None:
        return None, size, "no picture: the capture failed"
    full = (picture.width, picture.height)
    picture = resized(picture, rule.fit(full))
    if all(high <= _BLACK for _, high in picture.getextrema()):
        why = "secure screen: its picture is black" if screen_on else "the screen is off"
        return None, full, why
    note = f"screenshot {picture.width}x{picture.height}"
    if picture.size == full:
        return Image(raw, "image/jpeg", *full, note), full, ""
    return encode(picture, note), full, ""
