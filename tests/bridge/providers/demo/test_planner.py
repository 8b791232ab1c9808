"""The planner against a small paper phone: element lists and what each action leads to."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field

import pytest

from bridge.providers.demo.planner import reply


@dataclass
class PaperPhone:
    """``screens``: name -> lines without numbers. ``links``: (screen, label start) -> screen."""

    screens: dict[str, list[str]]
    links: dict[tuple[str, str], str]
    at: str = "home"
    typed: str = ""
    taps: list[str] = field(default_factory=list)
    keys: list[str] = field(default_factory=list)
    apps: list[str] = field(default_factory=list)

    def observe(self) -> str:
        package = {"home": "com.android.launcher3"}.get(self.at, f"com.android.{self.at}")
        lines = [
            line.replace("TYPED", self.typed.replace("\n", "\\n")) for line in self.screens[self.at]
        ]
        numbered = [f"[{n}] {line}" for n, line in enumerate(lines, 1)]
        return "\n".join(
            [f"Screen o1: {self.at} ({package}/.Main) 1080x2400 rotation 0", *numbered]
        )

    def execute(self, name: str, args: dict[str, str]) -> tuple[int, str]:
        if name == "observe_screen":
            return 0, self.observe()
        if name == "open_app":
            self.apps.append(args["app"])
            if ("home", args["app"]) not in self.links:
                return 1, f"no app named {args['app']}"
            self.at = self.links["home", args["app"]]
        elif name == "tap_element":
            line = self.screens[self.at][int(args["index"]) - 1]
            self.taps.append(line)
            self._follow(line)
        elif name == "type_text":
            self.typed = args["text"].removesuffix("\n")
        elif name == "press_key":
            self.keys.append(args["key"])
            self.at = self.links.get((self.at, args["key"]), "home")
        elif name == "scroll":
            self.at = self.links.get((self.at, "scroll"), self.at)
        return 0, f"{name} done"

    def _follow(self, line: str) -> None:
        for (screen, label), target in self.links.items():
            if screen == self.at and f'"{label}' in line:
                if target == "flip":
                    index = self.screens[self.at].index(line)
                    self.screens[self.at][index] = flip(line)
                else:
                    self.at = target
                return


def flip(line: str) -> str:
    return line[:-2] + "off" if line.endswith(" on") else line[:-3] + "on"


def frames(text: str) -> list[tuple[str, str, dict[str, str]]]:
    """A plain reader of call frames: id, name, arguments."""
    found: list[tuple[str, str, dict[str, str]]] = []
    lines = iter(text.split("\n"))
    for line in lines:
        if line.startswith("call "):
            _, call_id, name = line.split(" ")
            found.append((call_id, name, {}))
        elif line.startswith("arg "):
            _, key, value = line.split(" ", 2)
            if value.startswith("<<"):
                body = iter(lambda: next(lines), value[2:])
                value = "".join(f"{each}\n" for each in body)
            found[-1][2][key] = value
    return found


def drive(
    task: str, phone: PaperPhone, spoil: Callable[[int, str], bool] | None = None
) -> dict[str, str]:
    """Run the conversation until finish; ``spoil`` makes chosen actions fail without effect."""
    messages = [{"role": "system", "content": "s"}, {"role": "user", "content": task}]
    for turn in range(1, 60):
        text = reply(messages)
        assert text.startswith("[demo] ")
        messages.append({"role": "assistant", "content": text})
        results = ""
        for call_id, name, args in frames(text):
            if name == "finish":
                return args
            if spoil is not None and spoil(turn, name):
                results += f"result {call_id} exit=75 7\nunknown\nend\n"
                break
            code, answer = phone.execute(name, args)
            results += f"result {call_id} exit={code} {len(answer.encode())}\n{answer}\nend\n"
            if code:
                break
        messages.append({"role": "user", "content": results})
    raise AssertionError("the planner never finished")


def settings_phone(wifi: str = "on") -> PaperPhone:
    return PaperPhone(
        {
            "home": ['item "Settings"', 'item "Messages"'],
            "settings": [
                'item "Network & internet, Mobile, Wi\u2011Fi, hotspot"',
                'item "Connected devices, Bluetooth, pairing"',
                'list "" scrollable',
            ],
            "settings2": ['item "Display, Dark theme, font size"', 'list "" scrollable'],
            "settings_network": [
                'button "Navigate up"',
                'item "Internet, AndroidWifi"',
                'switch "Airplane mode" off',
            ],
            "settings_internet": ['button "Navigate up"', f'switch "Wi-Fi" {wifi}'],
            "settings_display": ['switch "Dark theme, Off" off'],
        },
        {
            ("home", "Settings"): "settings",
            ("settings", "Network"): "settings_network",
            ("settings", "scroll"): "settings2",
            ("settings2", "Display"): "settings_display",
            ("settings_network", "Internet"): "settings_internet",
            ("settings_internet", "Wi-Fi"): "flip",
            ("settings_network", "Airplane"): "flip",
            ("settings_display", "Dark"): "flip",
        },
    )


@pytest.mark.parametrize("task", ["turn off Wi-Fi", "关闭 Wi-Fi"])
def test_wifi_is_turned_off_and_looked_at(task: str) -> None:
    """The planner finds the switch two levels down, taps it once and checks it."""
    phone = settings_phone()
    answer = drive(task, phone)
    assert answer["success"] == "true"
    assert "Demo" in answer["summary"]
    assert phone.screens["settings_internet"][1] == 'switch "Wi-Fi" off'
    assert sum("Wi-Fi" in tap and "switch" in tap for tap in phone.taps) == 1


def test_a_switch_that_is_right_already_is_not_touched() -> None:
    """Nothing is tapped when the state is what the task asks for."""
    phone = settings_phone(wifi="off")
    answer = drive("turn off Wi-Fi", phone)
    assert answer == {"success": "true", "summary": "Demo: Wi-Fi is already off."}
    assert not any("switch" in tap for tap in phone.taps)


def test_what_is_further_down_is_found_by_scrolling() -> None:
    """An entry below the screen is scrolled to."""
    phone = settings_phone()
    assert drive("turn on the dark theme", phone)["success"] == "true"
    assert phone.screens["settings_display"] == ['switch "Dark theme, Off" on']


def test_a_switch_that_does_not_move_is_a_failure() -> None:
    """A tap without effect is neither repeated nor called a success."""
    phone = settings_phone()
    del phone.links["settings_internet", "Wi-Fi"]
    assert drive("turn off Wi-Fi", phone)["success"] == "false"
    assert sum("switch" in tap for tap in phone.taps) == 1


def test_an_unknown_outcome_is_looked_at_before_it_is_repeated() -> None:
    """A tap that may not have happened is repeated only after a look at the screen."""
    phone = settings_phone()
    spoiled: list[int] = []

    def spoil(turn: int, name: str) -> bool:
        if name != "tap_element" or spoiled or phone.at != "settings_internet":
            return False
        spoiled.append(turn)
        return True

    assert drive("turn off Wi-Fi", phone, spoil)["success"] == "true"
    assert spoiled
    assert phone.screens["settings_internet"][1] == 'switch "Wi-Fi" off'


def test_a_missing_entry_ends_in_a_failure() -> None:
    """A phone without the entry makes the demo give up, not loop."""
    phone = settings_phone()
    phone.screens["settings"] = ['item "Sound"', 'list "" scrollable']
    phone.screens["settings2"] = ['item "Battery"', 'list "" scrollable']
    assert drive("turn on Bluetooth", phone)["success"] == "false"
    assert phone.taps == []


def notes_phone() -> PaperPhone:
    return PaperPhone(
        {
            "home": ['item "Notes"'],
            "notes": ['field "Search notes"', 'item "Shopping, eggs"', 'button "New note"'],
            "notes_new": ['button "Save"', 'field "Title"', 'field "Note"'],
            "notes_saved": ['item "TYPED"', 'button "New note"'],
        },
        {
            ("home", "Notes"): "notes",
            ("notes", "New note"): "notes_new",
            ("notes_new", "Save"): "notes_saved",
        },
    )


def test_a_note_is_written_saved_and_checked() -> None:
    """The text goes into the body field of a new note, and is seen in the list afterwards."""
    phone = notes_phone()
    assert drive("write a note saying Buy milk & 茶\nTEXT", phone)["success"] == "true"
    assert phone.typed == "Buy milk & 茶\nTEXT"


def test_a_note_that_is_not_in_the_list_is_a_failure() -> None:
    """Without the text on the screen the demo does not claim success."""
    phone = notes_phone()
    phone.screens["notes_saved"] = ['button "New note"']
    assert drive("write a note saying hello", phone)["success"] == "false"


def messages_phone(preview: str) -> PaperPhone:
    return PaperPhone(
        {
            "home": ['item "Messages"'],
            "messaging": ['item "王小明, 记得带上那本书"', f'item "{preview}"'],
            "messaging_thread": ['"AlphaBank"', '"Your verification code is 482 913. It expires."'],
        },
        {("home", "Messages"): "messaging", ("messaging", "AlphaBank"): "messaging_thread"},
    )


@pytest.mark.parametrize(
    "preview",
    [
        "AlphaBank, Your verification code is 482913. It expires in 10",
        "AlphaBank, Your verification code…",
    ],
)
def test_a_code_is_read_from_the_preview_or_the_thread(preview: str) -> None:
    """The code is the output, without separators, and not in the summary."""
    answer = drive("what is the verification code in my messages", messages_phone(preview))
    assert (answer["success"], answer["output"]) == ("true", "482913")
    assert "482913" not in answer["summary"]


def test_no_code_is_a_failure() -> None:
    """Numbers that are no code are not taken for one."""
    phone = messages_phone("Maria, call 5550100123")
    assert drive("what is the verification code in my messages", phone)["success"] == "false"


def test_a_permission_question_is_denied() -> None:
    """The demo grants nothing on its way."""
    phone = notes_phone()
    phone.screens["ask"] = [
        '"Allow Notes to record audio?"',
        'button "Allow"',
        'button "Don’t allow"',
    ]
    phone.links["home", "Notes"] = "ask"
    phone.links["ask", "Don’t allow"] = "notes"
    assert drive("write a note saying hello", phone)["success"] == "true"
    assert phone.taps[0] == 'button "Don’t allow"'


def test_opening_an_app_and_going_home() -> None:
    """One action, one look, done; an app that is not there is a failure."""
    phone = notes_phone()
    assert drive("open Notes", phone)["success"] == "true"
    assert drive("go home", phone)["success"] == "true"
    assert phone.keys == ["home"]
    answer = drive("open Calculator", phone)
    assert answer["success"] == "false"
    assert "no app named Calculator" in answer["summary"]


def test_an_unknown_task_touches_nothing() -> None:
    """The first answer is a failure that says what the demo knows."""
    phone = notes_phone()
    answer = drive("order a pizza", phone)
    assert answer["success"] == "false"
    assert answer["summary"].startswith("The demo model only knows: turn Wi-Fi")
    assert phone.apps == []
