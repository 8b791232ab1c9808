"""The user's pictures: any usual file in, a small JPEG out, or a clear refusal."""

from __future__ import annotations

import io
import os
from pathlib import Path

import pytest
from PIL import Image as Pictures

from bridge.errors import ConfigurationError
from bridge.images import MAX_FILE_BYTES, user_images
from device_tools.pictures import PictureRule

RULE = PictureRule(longest_side=200)


def picture(path: Path, size: tuple[int, int] = (400, 300), mode: str = "RGB") -> Path:
    Pictures.new(mode, size, 128).save(path)
    return path


@pytest.mark.parametrize(
    ("name", "mode"), [("a.png", "L"), ("a.png", "RGBA"), ("a.jpg", "RGB"), ("a.webp", "RGB"),
                       ("a.gif", "P")]
)  # fmt: skip
def test_usual_files_become_small_jpegs(name: str, mode: str, tmp_path: Path) -> None:
    """Size by the rule, proportions kept, one format for all."""
    (image,) = user_images([picture(tmp_path / name, mode=mode)], RULE)
    assert (image.width, image.height, image.mime) == (200, 150, "image/jpeg")
    sent = Pictures.open(io.BytesIO(image.data))
    assert (sent.format, sent.size) == ("JPEG", (200, 150))


def test_a_photo_is_turned_as_its_camera_says(tmp_path: Path) -> None:
    """EXIF orientation is applied, because the JPEG that is sent has no EXIF."""
    path = tmp_path / "photo.jpg"
    exif = Pictures.Exif()
    exif[0x0112] = 6  # turned by 90 degrees
    Pictures.new("RGB", (400, 300)).save(path, exif=exif)
    (image,) = user_images([path], RULE)
    assert (image.width, image.height) == (150, 200)


def test_what_is_no_picture_is_refused(tmp_path: Path) -> None:
    """A missing file, a folder and other bytes each say what is wrong."""
    text = tmp_path / "a.txt"
    text.write_text("hello")
    for path, words in ((text, "no picture"), (tmp_path, "cannot"), (tmp_path / "x", "cannot")):
        with pytest.raises(ConfigurationError, match=words):
            user_images([path], RULE)


def test_too_much_is_refused_with_advice(tmp_path: Path) -> None:
    """One huge file, or many that are too large together: fewer or smaller images."""
    huge = tmp_path / "huge.jpg"
    with huge.open("wb") as file:
        file.truncate(MAX_FILE_BYTES + 1)
    noise = tmp_path / "noise.png"
    Pictures.frombytes("RGB", (1200, 1200), os.urandom(1200 * 1200 * 3)).save(noise)
    for paths in ([huge], [noise] * 9):
        with pytest.raises(ConfigurationError) as caught:
            user_images(paths, PictureRule(longest_side=1200))
        assert caught.value.advice == "give fewer or smaller images"
