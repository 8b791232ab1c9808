# Reads, writes, lists and deletes one file of the phone. POSIX sh: mksh, BusyBox ash, dash.
#
# $1 what: read | write | append | delete | list  $2 path  $3 base: the path must lie below it once
# links are followed ('' = anywhere)  $4... see each. stdout: a line of facts, then data.
# Exit codes: 0; 44 no such file; 45 another kind of file; 46 leads out of base; 47 too large;
# 48 not permitted; 49 the data did not arrive whole; 1 what stderr says.
what=$1 path=$2 base=$3
shift 3
temp=
fail() {
  [ -z "$temp" ] || rm -f -- "$temp"
  exit "$1"
}

# The nearest part of the path that exists, with all links followed.
real() {
  part=$1
  while [ ! -e "$part" ] && [ ! -L "$part" ] && [ -n "$part" ]; do
    part=${part%/*}
  done
  readlink -f -- "${part:-/}"
}
if [ -n "$base" ]; then
  whole=$(readlink -f -- "$base") && [ -d "$whole" ] || fail 44
  case $(real "$path")/ in
  "${whole%/}"/*) ;;
  *) fail 46 ;;
  esac
fi

must_be_file() {
  [ -e "$1" ] || fail 44
  [ -f "$1" ] || fail 45
}

# $1 the first byte, counted from 1; $2 how many
read_part() {
  must_be_file "$path"
  [ -r "$path" ] || fail 48
  stat -L -c 'bridge-file %s %a %u %g' -- "$path" || fail 1
  tail -c "+$1" -- "$path" | head -c "$2"
}

# $1 expected bytes  $2 a file that holds them ('' = stdin)  $3 random word  $4 the most that an
# append may copy
replace() {
  [ ! -L "$path" ] || path=$(readlink -f -- "$path") || fail 1
  [ ! -e "$path" ] || must_be_file "$path"
  [ ! -e "$path" ] || [ -w "$path" ] || fail 48
  folder=${path%/*}
  mkdir -p -- "${folder:-/}" || fail 1
  [ -w "${folder:-/}" ] || fail 48
  temp=$folder/.bridge-$3
  old=0
  : >"$temp" || { temp=; fail 1; }
  if [ "$what" = append ] && [ -e "$path" ]; then
    old=$(stat -c %s -- "$path") || fail 1
    # mksh counts in 32 bits
    [ ${#old} -le 9 ] && [ "$old" -le "$4" ] || fail 47
    cat -- "$path" >"$temp" || fail 1
  fi
  cat ${2:+"$2"} >>"$temp" || fail 1
  [ "$(stat -c %s -- "$temp")" = "$((old + $1))" ] || fail 49
  if [ -e "$path" ]; then
    chmod "$(stat -c %a -- "$path")" "$temp" || fail 1
    owner=$(stat -c %u:%g -- "$path")
    [ "$owner" = "$(stat -c %u:%g -- "$temp")" ] || chown "$owner" "$temp" || fail 1
    # the label of SELinux, where there is one
    label=$(stat -c %C -- "$path" 2>/dev/null) && chcon "$label" "$temp" 2>/dev/null
  fi
  fsync "$temp" 2>/dev/null || sync
  mv -f -- "$temp" "$path" || fail 1
  temp=
  fsync "${folder:-/}" 2>/dev/null
  return 0
}

case $what in
read) read_part "$@" ;;
write|append) replace "$@" ;;
delete)
  [ -L "$path" ] || must_be_file "$path"
  rm -f -- "$path" || fail 1
  ;;
list)
  [ -e "$path" ] || fail 44
  [ -d "$path" ] || fail 45
  [ -r "$path" ] && [ -x "$path" ] || fail 48
  # one record per entry, its beginning marked by $1: names may hold newlines
  find "$path/" -mindepth 1 -maxdepth 1 -print0 | xargs -0 -r stat -c "$1 %F|%s|%Y|%a|%u|%g|%n" --
  ;;
esac
