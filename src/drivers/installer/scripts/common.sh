# What the installer's programs share. Values from outside are only ever read into quoted variables.

# A word of the kernel's command line: `said url` is what `innkeeper.url=` says.
said() { tr ' ' '\n' < /proc/cmdline | sed -n "s/^innkeeper\.$1=//p" | head -n 1; }
seconds() { cut -d. -f1 /proc/uptime; }
say() { printf 'installer: %s s: %s\n' "$(seconds)" "$1"; }

# Where we came from, over TLS: whoever answers must have the key that the boot script named.
call() {
  path=$1
  shift
  curl -sS --fail --config /run/innkeeper/calls --retry 6 --retry-connrefused --retry-delay 2 --max-time 40 "$@" "$(said url)/$path"
}
# One report: its kind, and what jq makes the rest of it from.
report() {
  kind=$1
  shift
  jq -nc --arg kind "$kind" "$@" > /run/innkeeper/report
  call report -H 'content-type: application/json' --data-binary @/run/innkeeper/report > /dev/null
}
step() {
  say "$1"
  report step --arg step "$1" --arg at "$(seconds)" '{kind: $kind, step: $step, seconds: ($at | tonumber)}'
}
failed() {
  say "FAILED: $1"
  report failed --arg reason "$1" '{kind: $kind, reason: $reason}'
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
