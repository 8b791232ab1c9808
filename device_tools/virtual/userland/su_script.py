"""The phone's ``su``, ``id`` and ``getenforce``: small shell scripts, made from a root profile.

``su`` reads its arguments as the profile's form does and lets the setuid helper change the user.
"""

from __future__ import annotations

import shlex

from device_tools.virtual.userland.roots import HELPER, SHELL_CONTEXT, Form, Grant, RootProfile

LATE_SECONDS = 60
DENIED = 13
"""Exit code of a refused Magisk ``su``: EACCES."""

GETENFORCE = "#!/system/bin/sh\necho Enforcing\n"

_OPTIONS = """\
#!/system/bin/sh
shell=/system/bin/sh who= command= given= first=sh
while [ $# -gt 0 ]; do
  case $1 in
  -c|--command)
    if [ $# -lt 2 ]; then echo "su: option requires an argument -- c" >&2; exit 2; fi
    shift; command="$*"; given=1; break;;
  -s|--shell) shell=$2; shift;;
  -g|-G|-t|-z|--group|--supp-group|--target|--context) shift;;
  -v|--version) echo VERSION; exit 0;;
  -V) echo CODE; exit 0;;
  -h|--help) echo "Usage: su [options] [-] [user [argument...]]"; exit 0;;
  -|-l|--login) first=-;;
  -m|-p|--preserve-environment|-M|-mm|--mount-master|--no-pty|-W) ;;
  -*) echo "su: invalid option -- '${1#-}'" >&2; exit 2;;
  *) : "${who:=$1}";;
  esac
  [ $# -gt 0 ] && shift
done
GRANT
case ${who:=root} in
0) who=root;; 1000) who=system;; 2000) who=shell;;
root|system|shell) ;;
*) echo "Unknown id: $who" >&2; exit 1;;
esac
USER=$who LOGNAME=$who HOME=/ SHELL=$shell
export USER LOGNAME HOME SHELL
if [ -n "$given" ]; then set -- -c "$command"; elif [ $first = - ]; then set -- -; else set --; fi
DETACHED
exec HELPER -p -s "$shell" -- $who "$@"
"""

# a terminal stays the client's, as the daemon would pump it to one of its own with the same effect
_DETACH = """\
if ! [ -t 0 ] && ! [ -t 1 ] && ! [ -t 2 ]; then
  HELPER -p -s /system/bin/sh -- $who -c 'exec toybox setsid "$@"' su "$shell" "$@"
  exit $?
fi"""

_WHO = """\
#!/system/bin/sh
who=${1-root}
[ $# -gt 0 ] && shift
user=${who%%,*}
case $user in
0) user=root;; 1000) user=system;; 2000) user=shell;;
root|system|shell) ;;
*) echo "su: invalid uid/gid '$user'" >&2; exit 1;;
esac
[ $# -gt 0 ] || set -- /system/bin/sh
USER=$user LOGNAME=$user
export USER LOGNAME
exec HELPER -p -s /system/bin/sh -- $user -c 'exec "$@"' su "$@"
"""

_GRANTS = {
    Grant.YES: "",
    Grant.NO: f"echo 'Permission denied' >&2; exit {DENIED}",
    Grant.LATE: f"toybox sleep {LATE_SECONDS}; echo 'Permission denied' >&2; exit {DENIED}",
}

_ID = """\
#!/system/bin/sh
context() {
  if [ "$(toybox id -u)" = 0 ]; then echo ROOT; else echo SHELL; fi
}
case "$*" in
-Z) context;;
"") echo "$(toybox id) context=$(context)";;
*) exec toybox id "$@";;
esac
"""


def su(profile: RootProfile) -> str:
    """The text of ``su``."""
    template = _OPTIONS if profile.form is Form.OPTIONS else _WHO
    text = template.replace("GRANT", _GRANTS[profile.grant])
    text = text.replace("DETACHED", _DETACH if profile.detached else "")
    text = text.replace("HELPER", shlex.quote(HELPER))
    text = text.replace("VERSION", shlex.quote(profile.version))
    return text.replace("CODE", shlex.quote(profile.version_code))


def identity(profile: RootProfile | None) -> str:
    """The text of ``id``, which knows the SELinux contexts that this kernel does not have."""
    root = profile.context if profile else "u:r:su:s0"
    return _ID.replace("ROOT", shlex.quote(root)).replace("SHELL", shlex.quote(SHELL_CONTEXT))
