"""Which app a name means."""

from __future__ import annotations

import pytest

from device_tools.apps import App, find_app
from device_tools.errors import ActionRefused, Outcome

APPS = [
    App("com.android.settings", ".Settings", "Settings"),
    App("com.google.android.apps.messaging", ".Main", "Messages"),
    App("com.android.chrome", ".Main", "Chrome"),
    App("org.example.shopping.list", ".Main", "List"),
    App("org.example.shopping.cart", ".Main", "Cart"),
]


@pytest.mark.parametrize(
    ("wanted", "package"),
    [
        ("com.android.chrome", "com.android.chrome"),
        ("Settings", "com.android.settings"),
        ("设置", "com.android.settings"),
        ("SMS", "com.google.android.apps.messaging"),
        ("browser", "com.android.chrome"),
        (" cart ", "org.example.shopping.cart"),
    ],
)
def test_names_and_packages_find_their_app(wanted: str, package: str) -> None:
    """A package, a derived name, a well-known name in another language, a part of the package."""
    assert find_app(wanted, APPS).package == package


@pytest.mark.parametrize(
    ("wanted", "message", "listed"),
    [
        ("shopping", "several apps match", "List (org.example.shopping.list), Cart"),
        ("banking", "no app is called", "Settings (com.android.settings)"),
        ("com.example.none", "not installed", "Settings (com.android.settings)"),
    ],
)
def test_unclear_names_are_refused_with_candidates(wanted: str, message: str, listed: str) -> None:
    """Ambiguous, unknown and missing apps start nothing and list what could be meant."""
    with pytest.raises(ActionRefused, match=message) as caught:
        find_app(wanted, APPS)
    assert listed in caught.value.advice
    assert caught.value.outcome is Outcome.NOT_SENT
