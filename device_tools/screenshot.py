"""The phone's JPEG made ready for the model: one resize, and the reason when there is none."""

from __future__ import annotations

import io
from typing import Any

from device_tools.result import Image

JPEG_QUALITY = 80
_BLACK = 8


def prepare_picture(
    raw: bytes, size: tuple[int, int], max_side: int, *, screen_on: bool
) -> tuple[Image | None, tuple[int, int], str]:
    """The picture for the model, the true screen size, and a note when there is no picture.

    ``size`` is returned when the capture failed; the longer side becomes at most ``max_side``.
    """
    picture = _opened(raw)
    if picture is None:
        return None, size, "no picture: the capture failed"
    full = (picture.width, picture.height)
    factor = min(1.0, max_side / max(full))
    small = (max(1, round(full[0] * factor)), max(1, round(full[1] * factor)))
    if small != full:
        # Hamming: as sharp as bicubic on text, at a quarter of its time
        picture = picture.resize(small, _hamming())
    if all(high <= _BLACK for _, high in picture.getextrema()):
        why = "secure screen: its picture is black" if screen_on else "the screen is off"
        return None, full, why
    if small == full:
        return _image(raw, full), full, ""
    data = io.BytesIO()
    picture.save(data, "JPEG", quality=JPEG_QUALITY)
    return _image(data.getvalue(), small), full, ""


def _hamming() -> Any:
    from PIL.Image import Resampling

    return Resampling.HAMMING


def _image(data: bytes, size: tuple[int, int]) -> Image:
    width, height = size
    return Image(data, "image/jpeg", width, height, f"screenshot {width}x{height}")


def _opened(raw: bytes) -> Any:
    from PIL import Image as Pictures

    if not raw:
        return None
    try:
        picture = Pictures.open(io.BytesIO(raw))
        picture.load()
    except (OSError, ValueError, Pictures.DecompressionBombError):
        return None
    return picture if picture.mode == "RGB" else picture.convert("RGB")
