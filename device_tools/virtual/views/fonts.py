"""Finds fonts for the picture: one for Latin and neighbours, one for Han, Kana and Hangul.

Looked up by path: no fontconfig is needed. Without any, Pillow's built-in font draws Latin.
"""

from __future__ import annotations

import os
from functools import lru_cache
from importlib.util import find_spec
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from PIL import ImageFont

_LATIN = (
    "/usr/share/fonts/truetype/dejavu/DejaVuSans.ttf",
    "/usr/share/fonts/dejavu/DejaVuSans.ttf",
    "/usr/share/fonts/TTF/DejaVuSans.ttf",
    "/System/Library/Fonts/Supplemental/Arial Unicode.ttf",
)
_BOLD = (
    "/usr/share/fonts/truetype/dejavu/DejaVuSans-Bold.ttf",
    "/usr/share/fonts/dejavu/DejaVuSans-Bold.ttf",
    "/usr/share/fonts/TTF/DejaVuSans-Bold.ttf",
)
_CJK = (
    "/usr/share/fonts/truetype/wqy/wqy-microhei.ttc",
    "/usr/share/fonts/wqy-microhei/wqy-microhei.ttc",
    "/usr/share/fonts/opentype/noto/NotoSansCJK-Regular.ttc",
    "/usr/share/fonts/noto-cjk/NotoSansCJK-Regular.ttc",
    "/System/Library/Fonts/PingFang.ttc",
    "/System/Library/Fonts/Hiragino Sans GB.ttc",
)


def is_cjk(char: str) -> bool:
    """Whether the CJK font draws this character."""
    code = ord(char)
    return 0x1100 <= code <= 0x11FF or 0x2E80 <= code <= 0xD7AF or 0xF900 <= code <= 0xFFEF


@lru_cache(maxsize=64)
def font(size: int, *, cjk: bool = False, bold: bool = False) -> ImageFont.FreeTypeFont:
    """A font of ``size`` pixels."""
    from PIL import ImageFont

    path = (_first(_CJK) or _package_cjk()) if cjk else _first(_BOLD if bold else _LATIN)
    path = path or _first(_LATIN) or _first(_CJK)
    if path is not None:
        return ImageFont.truetype(path, size)
    built_in = ImageFont.load_default(size)
    if not isinstance(built_in, ImageFont.FreeTypeFont):
        raise OSError("Pillow was built without FreeType: the virtual phone has no picture")
    return built_in


def has_cjk() -> bool:
    """Whether Chinese text is drawn as text and not as boxes."""
    return (_first(_CJK) or _package_cjk()) is not None


def _first(paths: tuple[str, ...]) -> str | None:
    return next((path for path in paths if os.path.exists(path)), None)


def _package_cjk() -> str | None:
    # the pip package cvttf-notosanscjk-regular, for hosts where no font can be installed
    spec = find_spec("cvttf_NotoSansCJK_Regular")
    for folder in (spec.submodule_search_locations or ()) if spec else ():
        for base, _, names in os.walk(folder):
            for name in names:
                if name.endswith((".ttf", ".otf", ".ttc")):
                    return os.path.join(base, name)
    return None
