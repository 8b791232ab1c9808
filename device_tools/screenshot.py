"""The phone's JPEG made ready for the model: one resize, and the reason when there is none."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from device_tools.hierarchy import Bounds
from device_tools.pictures import PictureRule, blackened, decode, encode, resized
from device_tools.result import Image

_BLACK = 8


@dataclass(frozen=True)
class Picture:
    """``size``: the true size of the screen; ``note`` says why there is no image."""

    image: Image | None
    size: tuple[int, int]
    note: str


def prepare_picture(
    raw: bytes,
    size: tuple[int, int],
    rule: PictureRule,
    *,
    screen_on: bool,
    covered: Sequence[Bounds] = (),
) -> Picture:
    """The picture as the model gets it. ``size`` counts when the capture failed; the places
    ``covered`` (device pixels) are painted over."""
    picture = decode(raw)
    if picture is None:
        return Picture(None, size, "no picture: the capture failed")
    full = (picture.width, picture.height)
    if covered:
        picture = blackened(picture, covered)
    picture = resized(picture, rule.fit(full))
    if all(high <= _BLACK for _, high in picture.getextrema()):
        why = "secure screen: its picture is black" if screen_on else "the screen is off"
        return Picture(None, full, why)
    note = f"screenshot {picture.width}x{picture.height}"
    is_jpeg = raw[:2] == b"\xff\xd8"
    if picture.size == full and is_jpeg and not covered:
        return Picture(Image(raw, "image/jpeg", *full, note), full, "")
    return Picture(encode(picture, note), full, "")
