"""A browser: an address bar and a few built-in pages with links and a form. No network."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from functools import partial

from device_tools.virtual.state import WIDTH, Screen
from device_tools.virtual.views.theme import Theme
from device_tools.virtual.views.view import Rect, Style, View, Window
from device_tools.virtual.views.widgets import (
    STATUS_BAR,
    TOOLBAR,
    Page,
    Row,
    icon_button,
    paragraph,
    text_button,
)

PACKAGE = "com.android.browser"
_HOME = "start.example"


@dataclass(frozen=True)
class _Site:
    title: str
    text: str
    links: tuple[tuple[str, str], ...] = ()
    form: bool = False


_NEWS = (
    "The city opened a new bridge over the river this morning. Cyclists and walkers crossed it "
    "first; trams follow in spring. The work took three years and cost less than planned."
)
_SITES: dict[str, _Site] = {
    _HOME: _Site(
        "Start page",
        "Welcome. Choose a page or type an address above.",
        (
            ("Daily news", "news.example"),
            ("Weather", "weather.example"),
            ("Sign up for the newsletter", "form.example"),
        ),
    ),
    "news.example": _Site("Daily news", _NEWS, (("Back to the start page", _HOME),)),
    "weather.example": _Site(
        "Weather",
        "Today: 12 °C, light rain. Tomorrow: 15 °C, sunny.",
        (("Back to the start page", _HOME),),
    ),
    "form.example": _Site("Newsletter", "Enter your name and e-mail address.", form=True),
    "form.example/done": _Site("Thank you", "You are subscribed.", (("Start page", _HOME),)),
}


def windows(page: Page) -> list[Window]:
    """The page of ``args["url"]``; ``args["history"]`` is for the back key."""
    url = page.screen.args.get("url", _HOME)
    return [page.window(_bar(page), _web_view(page, url))]


def _bar(page: Page) -> View:
    bar = Rect(0, STATUS_BAR, WIDTH, STATUS_BAR + TOOLBAR)
    screen = page.screen
    url = screen.args.get("url", _HOME)

    def enter() -> None:
        load(page, screen.fields.get("address", url))

    field = page.edit(
        Rect(40, bar.top + 16, WIDTH - 180, bar.bottom - 16),
        "address",
        "Search or type web address",
        rid="url",
        on_enter=enter,
        fill=page.theme.surface,
        default=url,
    )
    home = icon_button(
        Rect(WIDTH - 160, bar.top, WIDTH - 10, bar.bottom),
        "nav-home",
        "Home page",
        lambda: load(page, _HOME),
        page.theme,
    )
    return View(bar, "android.view.ViewGroup", rid="toolbar", children=(field, home))


def load(page: Page, address: str) -> None:
    """Go to an address; remembers the page before it."""
    screen = page.screen
    url = address.strip().removeprefix("https://").removeprefix("http://").rstrip("/")
    screen.args["history"] = f"{screen.args.get('history', '')} {screen.args.get('url', _HOME)}"
    screen.args["url"] = screen.fields["address"] = url
    screen.focus = ""
    page.state.keyboard = False
    screen.scroll.clear()


def go_back(screen: Screen) -> bool:
    """Back inside the page history; False when there is none."""
    before = screen.args.get("history", "").split()
    if not before:
        return False
    screen.args["url"] = screen.fields["address"] = before[-1]
    screen.args["history"] = " ".join(before[:-1])
    return True


def _web_view(page: Page, url: str) -> View:
    site = _SITES.get(url)
    if site is None:
        offline = "Check the address: this virtual phone has no internet connection."
        site = _Site("This site can’t be reached", f"{url}\n{offline}", (("Start page", _HOME),))
    rows: list[Row] = [paragraph(site.title, 130, 68), paragraph(site.text, 330, 46)]
    rows += [_link(text, partial(load, page, target)) for text, target in site.links]
    if site.form:
        rows += _form(page)
    web = page.list(rows, key=url, rid="webview")
    return View(
        web.bounds,
        "android.webkit.WebView",
        site.title,
        children=web.children,
        scroll=web.scroll,
        style=Style(color="", size=1),
    )


def _link(text: str, click: Callable[[], None]) -> Row:
    def build(place: Rect, look: Theme) -> View:
        inside = Rect(66, place.top, place.right - 66, place.bottom)
        return View(
            inside,
            "android.view.View",
            text,
            on_click=click,
            style=Style(color=look.accent, size=46),
        )

    return 130, build


def _form(page: Page) -> list[Row]:
    def field(name: str, hint: str) -> Row:
        return 170, lambda place, look: page.edit(
            Rect(66, place.top + 15, place.right - 66, place.bottom - 15),
            name,
            hint,
            fill=look.surface,
        )

    def submit() -> None:
        fields = page.screen.fields
        page.state.submissions.append({key: fields.get(key, "") for key in ("name", "email")})
        load(page, "form.example/done")

    button: Row = (
        180,
        lambda place, look: text_button(
            Rect(66, place.top + 25, 500, place.bottom - 25), "Subscribe", submit, look
        ),
    )
    return [field("name", "Name"), field("email", "E-mail"), button]
