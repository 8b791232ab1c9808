"""Runs of the program in which every planted secret passes through: the prey of the hunt."""

from __future__ import annotations

import json
import threading
import time
from collections.abc import Sequence
from pathlib import Path

from device_tools.adb import open_device
from device_tools.adb_server import AdbAddress
from device_tools.cancel import CancelScope
from tests.bridge.hunt.plants import Plants
from tests.bridge.hunt.prey import (
    MODEL,
    PHONE,
    SECONDS,
    Prey,
    bridge,
    finish,
    newest,
    planted_phone,
    pull_work_folder,
    run_program,
    started,
    wait_until,
    watched,
)
from tests.doubles.provider_server import (
    Answer,
    Delay,
    Do,
    ScriptedServer,
    chat_answer,
    chat_chunk,
)

OBSERVE = "call o{n} observe_screen\nend\n"


FINISH = "call f finish\narg success true\narg summary {summary}\nend\n"


def hunted(folder: Path, plants: Plants) -> Prey:
    """Make all runs below ``folder``; everything has ended when this returns."""
    prey = Prey(folder, plants)
    for name in ("home", "tmp", "files", "pulled"):
        (folder / name).mkdir()
    with planted_phone(prey) as serial_and_port, watched(prey):
        _told(prey)
        _typed(prey, *serial_and_port)
        _native(prey)
        _in_the_shell(prey)
        _refused(prey)
        _steered_and_cancelled(prey)
        _killed(prey)
        _continued(prey)
        _told_by_commands(prey)
        pull_work_folder(prey, *serial_and_port)
    return prey


def calls(*parts: tuple[str, dict[str, object]]) -> str:
    """Frames for the calls; a value of several lines is a heredoc."""
    lines = []
    for number, (name, arguments) in enumerate(parts):
        lines.append(f"call c{number} {name}\n")
        lines += [f"arg {key} {value}\n" for key, value in arguments.items()]
        lines.append("end\n")
    return "".join(lines)


def _told(prey: Prey) -> None:
    """What the model says, what screens show, and every sensitive tool."""
    plants = prey.plants
    half = len(plants.said) // 2
    answers = [
        "\n".join(plants.said[:half]) + "\n" + OBSERVE.format(n=1),
        *_saved_networks(plants.wifi),
        calls(("open_app", {"app": "Messages"})),
        "\n".join(plants.controls) + "\n" + OBSERVE.format(n=2),
        calls(("open_app", {"app": "Notes"})),
        OBSERVE.format(n=3),
        calls(("wait_for", {"text": plants.messages[0], "timeout_ms": 100})),
        calls(
            ("read_sms_code", {}),
            ("recent_notifications", {"limit": 50}),
            ("notification_history", {}),
            ("search_messages", {"query": "verification"}),
            ("get_setting", {"namespace": "global", "key": "planted"}),
        ),
        *_sensitive_calls(plants.arguments),
        calls(("no_such_tool", {"password": plants.arguments[0]})),
        f"I am done, {plants.said[0]}\n" + FINISH.format(summary=plants.said[0]),
    ]
    run_program(prey, "told", [chat_answer(text) for text in answers], plants.task)


def _saved_networks(keys: Sequence[str]) -> list[str]:
    """The file that ``wifi_credentials`` reads; only root may, so an unrooted phone has none."""
    folder = "/data/misc/wifi"
    blocks = "".join(
        f'network={{\n ssid="Net {n}"\n psk="{key}"\n}}\n' for n, key in enumerate(keys)
    )
    file = f"arg path {folder}/wpa_supplicant.conf\narg content <<EOT\n{blocks}EOT\n"
    return [
        calls(("run_command", {"command": f"mkdir -p {folder}", "identity": "root"})),
        f"call c1 write_file\narg identity root\n{file}end\n",
    ]


def _sensitive_calls(values: Sequence[str]) -> list[str]:
    reads = (
        ("search_media", "query"), ("search_audio", "query"), ("search_recordings", "query"),
        ("search_files", "query"), ("search_downloads", "query"), ("search_contacts", "query"),
        ("search_calendar", "query"), ("search_call_history", "query"),
        ("read_sms_code", "sender"), ("recent_notifications", "package"), ("get_logcat", "text"),
        ("get_logcat", "tag"),
    )  # fmt: skip
    named = (
        ("get_setting", "key", {"namespace": "secure"}),
        ("set_setting", "value", {"namespace": "secure", "key": "bluetooth_name"}),
        ("app_state_control", "package", {"action": "force_stop"}),
        ("uninstall_app", "package", {}),
        ("install_app", "file", {}),
        ("send_file_to_phone", "path", {"file": "none.txt"}),
        ("get_file_from_phone", "path", {"file": "none.txt"}),
    )
    texts = [
        calls(*[(name, {key: values[n % len(values)]}) for n, (name, key) in enumerate(reads)])
    ]
    plain = [("wifi_credentials", {}), ("list_alarms", {}), ("recent_app_activity", {})]
    texts.append(calls(*[(name, dict(arguments)) for name, arguments in plain]))
    # an action that fails ends its reply, so each has one of its own
    for number, (name, key, rest) in enumerate(named, len(reads)):
        texts.append(calls((name, {**rest, key: values[number % len(values)]})))
    return texts


def _typed(prey: Prey, serial: str, port: int) -> None:
    """Into a password field, a code field and a plain one, by index and by focus."""
    phone = open_device(serial, AdbAddress("127.0.0.1", port), CancelScope())
    assert phone.shell(["am", "force-stop", "com.example.notes"]).code == 0
    assert phone.shell(["am", "start", "-n", "com.example.notes/.UnlockActivity"]).code == 0
    seen = json.loads(bridge(prey, "observe", "--device", PHONE, "--format", "json").stdout)
    index = {element["label"]: element["index"] for element in seen["elements"]}
    name, password, code = index["Your name"], index["Password"], index["One-time code"]
    prey.password = password
    plants, answers = prey.plants, [OBSERVE.format(n=1)]
    for number, text in enumerate(plants.typed):
        words = f"I type {text} as the password.\n" if number % 2 else ""
        answers.append(words + calls(("type_text", {"text": text, "index": password})))
    for number, text in enumerate(plants.codes):
        if number % 2:
            tap = ("tap_element", {"index": code})
            typing = ("type_text", {"text": text, "mode": "replace"})
            answers.append(calls(tap, typing, ("observe_screen", {})))
        else:
            typing = ("type_text", {"text": text, "index": code, "mode": "replace"})
            answers.append(calls(typing, ("observe_screen", {"screenshot": "false"})))
    answers += [
        calls(("type_text", {"text": plants.controls[0], "index": name, "mode": "replace"})),
        calls(("type_text", {"text": plants.said[1], "index": name, "mode": "replace"})),
        calls(("type_text", {"text": plants.typed[0], "index": 999})),
        f"{plants.codes[-1]} is in.\n" + FINISH.format(summary="Typed."),
    ]
    for start in range(0, len(answers), 50):
        part = answers[start : start + 50]
        tail = [] if start + 50 >= len(answers) else [FINISH.format(summary="On.")]
        first = [] if start == 0 else [OBSERVE.format(n=1)]
        texts = [*first, *part, *tail]
        run_program(prey, f"typed{start}", [chat_answer(text, size=5) for text in texts])


def _native(prey: Prey) -> None:
    """The same kinds as tool calls in JSON, cut into small deltas."""
    plants = prey.plants
    half = len(plants.said) // 2
    answers = [
        _native_answer("\n".join(plants.said[half:]), "observe_screen", {}),
        _native_answer("", "search_contacts", {"query": plants.arguments[-1]}),
        _native_answer("", "type_text", {"text": plants.typed[-1], "index": 999}),
        _native_answer("", "set_setting", {"namespace": "x", "key": plants.arguments[-1]}),
        _native_answer("", "finish", {"success": True, "summary": "Done."}),
    ]
    run_program(prey, "native", answers, more=("--protocol", "native-inc"))


def _native_answer(text: str, name: str, arguments: dict[str, object]) -> Answer:
    source = json.dumps(arguments, ensure_ascii=False)
    first = {
        "index": 0,
        "id": "n1",
        "type": "function",
        "function": {"name": name, "arguments": ""},
    }
    steps = [chat_chunk({"content": text[n : n + 9]}) for n in range(0, len(text), 9)]
    steps.append(chat_chunk({"tool_calls": [first]}))
    for n in range(0, len(source), 4):
        piece = {"index": 0, "function": {"arguments": source[n : n + 4]}}
        steps.append(chat_chunk({"tool_calls": [piece]}))
    return Answer([*steps, chat_chunk(finish="tool_calls"), b"data: [DONE]\n\n"])


def _in_the_shell(prey: Prey) -> None:
    """Files and outputs of commands, in the phone's own storage."""
    plants = prey.plants
    text = "\n".join(plants.said)
    path = "/sdcard/planted.txt"
    written = f"call c1 write_file\narg path {path}\narg content <<EOT\n{text}\nEOT\nend\n"
    session = {"action": "open_and_exec", "command": f"echo {_quoted(plants.said[-1])}"}
    answers = [
        written,
        calls(("read_file", {"path": path})),
        calls(("run_command", {"command": f"cat {path}"})),
        calls(("run_command", {"command": f"cat {path} >&2; exit 3"})),
        calls(("terminal", session)),
        calls(("list_directory", {"path": "/data/local/tmp"})),
        f"It says {plants.said[-1]}.\n" + FINISH.format(summary="Read."),
    ]
    run_program(prey, "shell", [chat_answer(answer) for answer in answers])


def _quoted(text: str) -> str:
    return "'" + text.replace("'", "'\\''") + "'"


def _refused(prey: Prey) -> None:
    """Calls of a group that is denied, a broken frame, and a server that sends the key back."""
    plants = prey.plants
    error = {"error": {"message": f"Incorrect API key provided: {plants.key}", "type": "auth"}}
    answers = [
        chat_answer(calls(("search_messages", {"query": plants.arguments[0]}))),
        chat_answer(
            f"call c1 type_text\narg text {plants.said[0]}\nnonsense {plants.said[1]}\n"
            + calls(("search_contacts", {"query": plants.arguments[1]}))
        ),
        Answer([json.dumps(error).encode()], 401, "application/json"),
    ]
    run_program(prey, "refused", answers, more=("--deny", "sensitive_read"))


def _steered_and_cancelled(prey: Prey) -> None:
    reached, opened = threading.Event(), threading.Event()
    first = [chat_chunk({"content": "I look.\n"}), Do(reached.set), Do(lambda: opened.wait(60))]
    answers = [
        Answer([*first, *chat_answer(OBSERVE.format(n=1)).steps]),
        chat_answer(calls(("wait_for", {"text": "never there", "timeout_ms": 30_000}))),
    ]
    with ScriptedServer(answers) as server, started(prey, "cancelled", server) as process:
        assert reached.wait(SECONDS)
        run = newest(prey)["run"]
        assert bridge(prey, "steer", run, prey.plants.steering).returncode == 0
        opened.set()
        wait_until(lambda: len(server.requests) > 1)
        time.sleep(0.5)
        assert bridge(prey, "cancel", run).returncode == 0
        finish(prey, "cancelled", process)


def _killed(prey: Prey) -> None:
    """kill -9 while secrets are on their way."""
    reached = threading.Event()
    plants = prey.plants
    text = "\n".join(plants.said[:20]) + "\n" + OBSERVE.format(n=1)
    typing = calls(("type_text", {"text": plants.typed[0], "index": prey.password}))
    answers = [
        chat_answer(text),
        chat_answer(typing),
        Answer([chat_chunk({"content": plants.said[2][:-3]}), Do(reached.set), Delay(60)]),
    ]
    with ScriptedServer(answers) as server, started(prey, "killed", server) as process:
        assert reached.wait(SECONDS)
        process.kill()
        finish(prey, "killed", process)


def _continued(prey: Prey) -> None:
    with ScriptedServer([chat_answer(FINISH.format(summary="Done."))]) as server:
        argv = ("continue", newest(prey)["run"], "go on", "--device", PHONE)
        ran = bridge(prey, *argv, "--provider", "openai", "--base-url", server.base_url, *MODEL)
        prey.later += [request.body for request in server.requests]
    prey.exits["continued"] = ran.returncode


def _told_by_commands(prey: Prey) -> None:
    for line in bridge(prey, "sessions", "list", "--json").stdout.splitlines():
        session = json.loads(line).get("session") or json.loads(line)["id"]
        for argv in (
            ("show",),
            ("show", "--json"),
            ("export",),
            ("export", "--format", "markdown"),
        ):
            ran = bridge(prey, "sessions", argv[0], session, *argv[1:])
            assert ran.returncode == 0, ran.stderr
            prey.outputs[f"sessions {argv} {session}"] = ran.stdout + ran.stderr
    prey.outputs["sessions list"] = bridge(prey, "sessions", "list").stdout
