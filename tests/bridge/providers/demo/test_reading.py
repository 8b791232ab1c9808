from __future__ import annotations

from bridge.providers.demo.reading import read_conversation, read_results, read_screen

LIST = """Screen o3: Settings (com.android.settings/.Settings) 1080x2400 rotation 0
(keyboard shown)
[1] button "Navigate up"
[2] switch "Wi-Fi" on
[3] field "Search \\"settings\\"" ="hello\\nyou" focused
[4] "Some readable text"
[5] list "Apps" scrollable
[6] switch "Airplane mode" off disabled
(12 more below: scroll down)"""


def frame(text: str, call_id: str = "c1", code: int = 0) -> str:
    return f"result {call_id} exit={code} {len(text.encode())}\n{text}\nend\n"


def test_an_element_list_is_read_whole() -> None:
    """Numbers, roles, escaped labels, values and flags are told apart."""
    screen = read_screen(LIST)
    assert screen is not None
    assert (screen.title, screen.package) == ("Settings", "com.android.settings")
    assert [e.index for e in screen.elements] == [1, 2, 3, 4, 5, 6]
    search = screen.elements[2]
    assert (search.role, search.label, search.value) == (
        "field",
        'Search "settings"',
        "hello\nyou",
    )
    assert screen.elements[3].role == ""
    assert screen.elements[5].flags == {"off", "disabled"}


def test_result_frames_are_read_by_their_byte_count() -> None:
    """Text that looks like a frame inside a result is not one."""
    inner = frame("你好", "x9", 1)
    results = read_results(frame(inner) + frame("文", "c2", 75) + "a note\n")
    assert [(r.call_id, r.exit_code, r.text) for r in results] == [
        ("c1", 0, inner),
        ("c2", 75, "文"),
    ]


def test_a_conversation_gives_task_steps_and_newest_screen() -> None:
    """Steps come from the demo's own lines; a step whose call failed is marked."""
    conversation = read_conversation(
        [
            {"role": "system", "content": "rules"},
            {"role": "user", "content": "turn off Wi-Fi"},
            {"role": "assistant", "content": "[demo] open Settings\ncall d1.1 open_app\nend\n"},
            {"role": "user", "content": frame("opened") + frame("Screen o1: A (a/.B) 1x1\n[1] x")},
            {"role": "assistant", "content": "[demo] tap X\ncall d2.1 tap_element\nend\n"},
            {
                "role": "user",
                "content": [
                    {"type": "text", "text": frame("gone", code=2)},
                    {"type": "image_url", "image_url": {"url": "data:image/png;base64,AAAA"}},
                ],
            },
        ]
    )
    assert conversation.task == "turn off Wi-Fi"
    assert conversation.steps == ("open Settings", "failed: tap X")
    assert conversation.screen is None
    assert conversation.failure is not None and conversation.failure.text == "gone"
    assert conversation.before is not None and conversation.before.title == "A"
