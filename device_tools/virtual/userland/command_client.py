"""The program behind getprop, dumpsys, input, ... inside the phone: one small shell script.

It asks the daemon over a unix socket. Request: the number of arguments (with the name it was called
by), its folder and the arguments, each ended by NUL, then its stdin where the command reads it.
Answer: one line ``CODE ERRORTEXT`` with the text in ``\\0ooo`` escapes, then stdout as it is; so
stdout is binary-safe and needs no decoder, and the exit code is known before the last byte.
"""

from __future__ import annotations

PROGRAM = "cmd"
NAMES = (
    PROGRAM,
    "am", "app_process", "bugreportz", "content", "dumpsys", "getprop", "ifconfig", "ime", "input",
    "ip", "logcat", "monkey", "pm", "ps", "screencap", "screenrecord", "service", "setprop",
    "settings", "svc", "uiautomator", "wm",
)  # fmt: skip
NO_ANSWER = 20
"""Exit code of a command whose daemon does not answer."""

_SCRIPT = """\
#!/system/bin/sh
name=${0##*/}
stdin=
case "$name $1" in
"cmd package"|"pm "*) case " $* " in *" install"*" -S "*) stdin=1;; esac;;
"content write") stdin=1;;
esac
{
  WRITE "$(($# + 1))"; NUL; WRITE "$PWD"; NUL; WRITE "$name"; NUL
  for argument; do WRITE "$argument"; NUL; done
  if [ -n "$stdin" ]; then cat; fi
} | NETCAT -U SOCKET 2>/dev/null | {
  IFS= read -r head || { echo "cmd: Can't find service: $name" >&2; exit NO_ANSWER; }
  text=${head#* }
  if [ -n "$text" ]; then UNESCAPE "$text" >&2; fi
  cat
  exit "${head%% *}"
}
"""


def script(*, mksh: bool, socket: str) -> str:
    """The client for mksh (its builtins save two processes per argument) or a plain POSIX shell."""
    words = {
        "WRITE": "print -rn --" if mksh else "printf %s",
        "NUL": r"print -n '\0000'" if mksh else r"printf '\0'",
        "UNESCAPE": "print -n --" if mksh else "printf %b",
        "NETCAT": "/system/bin/toybox nc",  # busybox's nc knows no unix sockets
        "SOCKET": socket,
        "NO_ANSWER": str(NO_ANSWER),
    }
    text = _SCRIPT
    for word, code in words.items():
        text = text.replace(word, code)
    return text


def answer_head(code: int, stderr: bytes) -> bytes:
    """The first line of an answer."""
    return b"%d %s\n" % (code, b"".join(_escaped(byte) for byte in stderr))


def _escaped(byte: int) -> bytes:
    plain = 0x20 <= byte < 0x7F and byte != 0x5C
    return bytes([byte]) if plain else b"\\0%03o" % byte
