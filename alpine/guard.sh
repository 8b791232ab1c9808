# The supervisor's part on the phone: leads a session of its own, reports who it is, starts one
# command only when told to, and leaves nothing of it behind. POSIX sh: mksh, BusyBox ash, dash.
#
# $1 token  $2 mode: once | script | fd | shell  $3 directory ('' = as it is)  $4 1: stderr into stdout
# $5 command (once) or file (script, fd)  $6... the shell that runs it
#
# stdin: "go TOKEN", then "x" + a line for the shell, or "end"; its end means that the host is gone.
# stdout first: "bridge-ready TOKEN PID PGID SID"; stderr last: "bridge-end TOKEN done CODE LEFT".
token=$1 mode=$2 dir=$3 merge=$4 text=$5
shift 5
guard=$$ mark= pids= left=0
# not ignored, which children would inherit
trap : HUP INT TERM
set +m
exec 3<&0 </dev/null

if (print -r -- x) >/dev/null 2>&1; then
  say() { print -r -- "$1"; }
else
  say() { printf '%s\n' "$1"; }
fi

# State, group and session of a process; false when it is gone or only waits to be collected.
look() {
  read -r seen 2>/dev/null <"/proc/$1/stat" || return 1
  seen=${seen##*) }
  read_state $seen
}
read_state() {
  group=$3 session=$4
  case $1 in Z|X) return 1 ;; esac
}

owned() {
  look "$1" || return 1
  [ "$session" = "$guard" ] && return 0
  grep -qszF "BRIDGE_TOKEN=$token" "/proc/$1/environ" 2>/dev/null && return 0
  [ -n "$mark" ] && [ "$(readlink "/proc/$1/fd/9" 2>/dev/null)" = "$mark" ]
}

# Everything that may be ours, but for this process and the guard, into $pids.
find_candidates() {
  pids=' '
  for place in /proc/[0-9]*; do
    look "${place#/proc/}" && [ "$session" = "$guard" ] && note "${place#/proc/}"
  done
  found=$(
    grep -lszF "BRIDGE_TOKEN=$token" /proc/[0-9]*/environ 2>/dev/null
    [ -n "$mark" ] && ls -l /proc/[0-9]*/fd/9 2>/dev/null | grep -F -- "-> $mark"
  )
  before=$IFS
  IFS='
'
  for place in $found; do
    place=${place##*/proc/}
    note "${place%%/*}"
  done
  IFS=$before
}
note() {
  case $1 in "$self"|"$guard") return ;; esac
  case $pids in *" $1 "*) ;; *) pids="$pids$1 " ;; esac
}

# The signal for every one that is ours at this very moment; their number into $left.
signal_owned() {
  find_candidates
  left=0
  for pid in $pids; do
    if owned "$pid"; then
      left=$((left + 1))
      [ "$1" = 0 ] || kill "-$1" "$pid" 2>/dev/null
    fi
  done
}

# Tenths of a second since the phone started, into $now; 0 where they cannot be read.
tick() {
  now=0
  if read -r up rest 2>/dev/null </proc/uptime; then
    up=${up%?}
    now=${up%.*}${up#*.}
  fi
}

# TERM, 2 s of grace, then KILL until two looks in a row find nothing: a process that is in the
# middle of an exec shows neither its old nor its new environment.
stop() {
  read -r self rest </proc/self/stat
  rounds=0 clean=0 first=TERM
  tick; begun=$now
  while [ $rounds -lt 60 ] && [ $clean -lt 2 ]; do
    tick
    # by the clock: on a busy phone every look takes long
    if [ $rounds -ge 20 ] || [ $((now - begun)) -ge 20 ]; then
      signal_owned KILL
    else
      signal_owned $first
    fi
    first=0
    if [ "$left" = 0 ]; then
      clean=$((clean + 1))
    else
      clean=0
      sleep 0.1 || sleep 1
    fi
    rounds=$((rounds + 1))
  done
}

listen() {
  read -r self rest </proc/self/stat
  mark=$(readlink "/proc/$self/fd/1")
  say "$self $mark"
  while IFS= read -r line <&3; do
    case $line in
    x*) say "${line#x}" ;;
    end) break ;;
    esac
  done
  stop >/dev/null
}

# Its stdin is the pipe from the listener. As descriptor 9 that marks what clears its environment.
run() {
  read -r listener pipe
  [ "$merge" = 1 ] && exec 2>&1
  if [ -n "$dir" ] && ! cd -- "$dir"; then
    code=1
  elif [ "$mode" = shell ]; then
    ENV=/dev/null PS1= PS2= PS4='+ ' "$@" -i 9<&0 3<&-
    code=$?
  elif [ "$mode" = script ]; then
    "$@" "$text" 9<&0 3<&- </dev/null
    code=$?
  elif [ "$mode" = fd ]; then
    # the name means nothing inside a chroot, the descriptor does
    "$@" /proc/self/fd/8 8<"$text" 9<&0 3<&- </dev/null
    code=$?
  else
    "$@" -c "$text" 9<&0 3<&- </dev/null
    code=$?
  fi
  # so that the listener, if it stops everything at this moment, cannot end both of us
  trap '' TERM
  # a child of the guard that is not collected yet: this number is no one else's
  kill -PIPE "$listener" 2>/dev/null
  mark=$pipe
  stop
  exit $code
}

refuse() {
  echo "bridge-refused $token $1" >&2
  exit 125
}

look $$ || refuse "no /proc"
[ "$group" = $$ ] && [ "$session" = $$ ] || refuse "setsid made no session"
export BRIDGE_TOKEN="$token"
echo "bridge-ready $token $$ $group $session"
IFS= read -r line <&3 && [ "$line" = "go $token" ] || exit 125

listen | run "$@"
code=$?
# both ends of the pipe have cleaned up by themselves, unless they were killed
left=1
if [ $code -lt 128 ]; then
  read -r self rest </proc/self/stat
  signal_owned 0
fi
[ "$left" = 0 ] || stop
case $mode in script|fd) rm -f -- "$text" ;; esac
echo "bridge-end $token done $code $left" >&2
exit $code
