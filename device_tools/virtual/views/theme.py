"""Colours of the light and the dark theme."""

from __future__ import annotations

from dataclasses import dataclass

from device_tools.virtual.state import PhoneState


@dataclass(frozen=True)
class Theme:
    background: str
    surface: str
    text: str
    faint: str
    accent: str
    on_accent: str
    bar: str


LIGHT = Theme("#fbfbff", "#e9ebf4", "#1b1b1f", "#5c5f69", "#2f5fc4", "#ffffff", "#f1f3fb")
DARK = Theme("#121318", "#262a33", "#e6e6ec", "#a6a9b4", "#a9c4ff", "#10203f", "#1a1c22")


def theme(state: PhoneState) -> Theme:
    """The theme the settings ask for."""
    return DARK if state.dark else LIGHT
