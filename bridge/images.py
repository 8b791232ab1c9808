"""The user's own pictures beside the task (``--image``), made as small as the model sees them."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING

from bridge.errors import ConfigurationError

if TYPE_CHECKING:
    from device_tools.pictures import PictureRule
    from device_tools.result import Image

MAX_FILE_BYTES = 32 * 1024 * 1024
"""Of one file, before it is made smaller."""
MAX_START_BYTES = 4 * 1024 * 1024
"""Of all pictures of the first request as they are sent; servers refuse more than a few times
this, and every later request of the run carries them again."""
FEWER = "give fewer or smaller images"


def user_images(paths: Sequence[Path], rule: PictureRule) -> tuple[Image, ...]:
    """The pictures in the order given.

    Raises:
        ConfigurationError: a file cannot be read or is no picture, or they are too large.
    """
    images = tuple(_load(path, rule) for path in paths)
    size = sum(len(image.data) for image in images)
    if size > MAX_START_BYTES:
        raise ConfigurationError(
            f"the images come to {size} bytes, {MAX_START_BYTES} are allowed", advice=FEWER
        )
    return images


def _load(path: Path, rule: PictureRule) -> Image:
    from device_tools.pictures import decode, encode, resized

    try:
        with path.open("rb") as file:
            data = file.read(MAX_FILE_BYTES + 1)
    except OSError as error:
        raise ConfigurationError(
            f"the image {path} cannot be read: {error.strerror}", advice="check --image"
        ) from error
    if len(data) > MAX_FILE_BYTES:
        raise ConfigurationError(
            f"the image {path} has more than {MAX_FILE_BYTES} bytes", advice=FEWER
        )
    picture = decode(data)
    if picture is None:
        raise ConfigurationError(
            f"{path} is no picture that can be read", advice="give a JPEG, PNG or WebP file"
        )
    picture = resized(picture, rule.fit(picture.size))
    return encode(picture, f"the user's image {picture.width}x{picture.height}")
