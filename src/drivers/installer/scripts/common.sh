# What the installer's programs share. Values from outside are only ever read into quoted variables.

# A word of the kernel's command line: `said url` is what `innkeeper.url=` says.
said() { tr ' ' '\n' < /proc/cmdline | sed -n "s/^innkeeper\.$1=//p" | head -n 1; }
seconds() { cut -d. -f1 /proc/uptime; }
say() { printf 'installer: %s s: %s\n' "$(seconds)" "$1"; }

# So many seconds is tried for what must not be lost: were it, hours of work would be begun anew.
patience=600
# How a program ends whose work nobody knows of, so that all is begun anew.
anew=75
# Where we came from, over TLS: whoever answers must have the key that the boot script named. 22: it said no. Curl by itself comes again when it is told
# that something failed there for now, and not when the way to it is lost. What is sent stands in a file, so that it is whole each time.
call() {
  path=$1
  shift
  end=$(($(seconds) + patience))
  while :; do
    rm -f /run/innkeeper/answer
    curl -sS --fail --config /run/innkeeper/calls --retry $((patience / 5)) --retry-connrefused --retry-delay 5 --retry-max-time "$patience" --max-time 40 \
      -o /run/innkeeper/answer "$@" "$(said url)/$path"
    called=$?
    case $called in 0 | 22) break ;; esac
    [ "$(seconds)" -lt "$end" ] || break
    sleep 5
  done
  [ ! -e /run/innkeeper/answer ] || cat /run/innkeeper/answer
  return $called
}
send() { call report -H 'content-type: application/json' --data-binary "@$1" > /dev/null; }
# One report: its kind, and what jq makes the rest of it from.
report() {
  kind=$1
  shift
  jq -nc --arg kind "$kind" "$@" > /run/innkeeper/report
  send /run/innkeeper/report
}
step() {
  say "$1"
  printf '%s\n' "$1" > /run/innkeeper/step
  report step --arg step "$1" --arg at "$(seconds)" '{kind: $kind, step: $step, seconds: ($at | tonumber)}'
}
failed() {
  say "FAILED: $1"
  : > /run/innkeeper/failed
  report failed --arg reason "$1" '{kind: $kind, reason: $reason[:480]}'
  exit 1
}
plan() { jq -r "$1" /run/innkeeper/plan; }

# /dev/… of the disk with this serial number. Nothing when none has it, and when several do.
disk_of() {
  jq -r --arg serial "$1" '[.disks[] | select(.serial == $serial) | .name] | if length == 1 then "/dev/" + .[0] else "" end' \
    /run/innkeeper/disks
}
# The n-th partition of a disk: names that end in a digit put a `p` between.
part() { case $1 in *[0-9]) printf '%sp%s' "$1" "$2" ;; *) printf '%s%s' "$1" "$2" ;; esac; }
# What GRUB reads on each disk: where the system with this UUID is, and on with its own.
leads_to() {
  printf 'search --no-floppy --fs-uuid --set=root %s\nexport root\nset prefix=($root)/boot/grub\nconfigfile ($root)/boot/grub/grub.cfg\n' "$1"
}
