#!/bin/sh
# wipe DEVICE SERIAL: erases a disk, looks whether it is, and prints what it did and what the drive says as JSON. Ends with 1 when
# anything is left.
#
# A `format` without its secure-erase setting erases nothing by the standard, and a discard only promises: neither is used. What the
# drive says of itself is not proof either: marks are written before, all over the disk, and must be gone afterwards.
disk=$1
serial=$2
dir=/run/innkeeper/wiping
mkdir -p "$dir"
marks=32
began=$(cut -d. -f1 /proc/uptime)
size=$(blockdev --getsize64 "$disk" 2>"$dir/log")
case $size in '' | *[!0-9]*) size=0 ;; esac
# A mark of its own for this disk and this time.
head -c 4096 /dev/urandom > "$dir/mark"

# Places of marks are the ends of the disk and others between them at equal distances, in blocks of 4 KiB.
mark() {
  [ "$size" -gt 4096 ] || return 1
  n=0
  while [ $n -lt $marks ]; do
    dd if="$dir/mark" of="$disk" bs=4096 seek=$(((size / 4096 - 1) * n / (marks - 1))) count=1 oflag=direct conv=notrunc 2>"$dir/log" || return 1
    n=$((n + 1))
  done
  sync
}
# Reads all places into one file; fails when one cannot be read.
places() {
  n=0
  blockdev --flushbufs "$disk"
  while [ $n -lt $marks ]; do
    dd if="$disk" bs=4096 skip=$(((size / 4096 - 1) * n / (marks - 1))) count=1 iflag=direct 2>/dev/null || return 1
    n=$((n + 1))
  done > "$dir/read"
  # BusyBox' dd reads nothing behind the end of a disk, and calls that success: one that has become smaller was not read.
  [ "$(wc -c < "$dir/read")" = $((marks * 4096)) ]
}
# Looks at all places: `remaining` is how many marks are left, `rest` how many places hold anything but zeros. Where one cannot be
# read, all count.
look() {
  remaining=0
  rest=0
  if ! places; then
    remaining=$marks
    rest=$marks
    return
  fi
  # Mostly all of it is zeros, and that is seen at once: each program that is started takes its time.
  [ "$(tr -d '\0' < "$dir/read" | wc -c)" = 0 ] && return
  n=0
  while [ $n -lt $marks ]; do
    dd if="$dir/read" of="$dir/one" bs=4096 skip=$n count=1 2>/dev/null
    cmp -s "$dir/mark" "$dir/one" && remaining=$((remaining + 1))
    [ "$(tr -d '\0' < "$dir/one" | wc -c)" = 0 ] || rest=$((rest + 1))
    n=$((n + 1))
  done
}
# Whether all marks can be read: what writes were told and did not do is no place to look for them afterwards.
marked() {
  n=0
  while [ $n -lt $marks ]; do cat "$dir/mark"; n=$((n + 1)); done > "$dir/expected"
  places && cmp -s "$dir/expected" "$dir/read"
}
# Runs a program whose end and words are kept: `tried` grows by a line of JSON.
try() {
  tried=$1
  shift
  "$@" > "$dir/log" 2>&1
  exit_status=$?
  jq -nc --arg way "$tried" --arg exit "$exit_status" --rawfile log "$dir/log" \
    '{method: $way, exit: ($exit | tonumber), log: $log[-2000:]}' >> "$dir/tried"
  return $exit_status
}
is_nvme() { case ${disk##*/} in nvme*) ;; *) return 1 ;; esac; }
controller() { printf '%s' "${disk%n*}"; }
# Of its last sanitize, in `state`: 0 there was none, 1 and 4 it succeeded, 2 it is under way, 3 it failed. Fails when the drive says nothing of it.
# Read from the log itself, whose third byte holds it (NVMe base specification, Sanitize Status): each version of the program puts it in other words.
sanitize_state() {
  state=$(nvme sanitize-log "$(controller)" --raw-binary 2>/dev/null | od -An -v -tu1 -j2 -N1 2>/dev/null | tr -d ' \n')
  case $state in '' | *[!0-9]*) return 1 ;; esac
  state=$((state & 7))
}
# Waits for as long as one is under way, and says how it ended.
settled() {
  unheard=0
  while :; do
    if sanitize_state; then
      unheard=0
      [ "$state" = 2 ] || break
    else
      unheard=$((unheard + 1))
      [ $unheard -lt 12 ] || { echo 'the drive says nothing any more of its sanitize'; return 1; }
    fi
    sleep 5
  done
  nvme sanitize-log "$(controller)"
  case $state in 1 | 4) return 0 ;; esac
  # Until somebody says that it may, a drive whose sanitize failed does nothing any more.
  [ "$state" = 3 ] && nvme sanitize "$(controller)" --sanact=1
  return 1
}
# What it leaves behind when it fails is erased otherwise, so the drive may be let out of that (`--ause`). Some do not know of it.
sanitized() {
  nvme sanitize "$(controller)" "$@" --ause || nvme sanitize "$(controller)" "$@" ||
    { sanitize_state && [ "$state" = 2 ]; } || return 1
  settled
}
# Its blocks keep their size: said to format all of its namespaces, the program takes the drive's first size unless it is told.
formatted() {
  nsid=$(cat "/sys/class/block/${disk##*/}/nsid" 2>/dev/null || echo "${disk##*n}")
  flbas=$(nvme id-ns -o json "$disk" 2>/dev/null | jq -r '.flbas // 0')
  nvme format "$(controller)" --namespace-id="$nsid" --lbaf=$((${flbas:-0} & 15 | (${flbas:-0} & 96) >> 1)) --ses="$1" --force || return 1
  # It is looked at anew by then, and may be away for a moment.
  waited=0
  until blockdev --getsize64 "$disk" > /dev/null 2>&1 || [ $waited = 50 ]; do sleep 0.1; waited=$((waited + 1)); done
}
# Whether the security section of `hdparm -I` says this of the drive, and not the opposite ("not locked").
security() { hdparm -I "$disk" 2>/dev/null | grep -q "^[[:space:]]*$1\$"; }
password=innkeeper
ata_erased() {
  hdparm --user-master u --security-set-pass $password "$disk" || return 1
  hdparm --user-master u "$1" $password "$disk" && return 0
  # A drive that refused keeps its password otherwise, and is locked from its next start on.
  hdparm --user-master u --security-disable $password "$disk"
  return 1
}
# Whoever locked it: by our password it is one whose erasure was cut off, and some such drives do nothing but erase.
unlocked() {
  hdparm --user-master u --security-unlock $password "$disk" && hdparm --user-master u --security-disable $password "$disk" && return 0
  hdparm --user-master u --security-erase $password "$disk"
}
no_password() {
  hdparm --user-master u --security-disable $password "$disk"
  ! security enabled || { echo 'it keeps its password, and would be locked when it starts the next time'; return 1; }
}
frozen() { echo 'its firmware has frozen its security until the power comes the next time'; return 1; }
overwritten() {
  dd if=/dev/zero of="$disk" bs=4M count=$((size / 4194304)) oflag=direct conv=notrunc || return 1
  last=$((size % 4194304 / 512))
  [ $last = 0 ] || dd if=/dev/zero of="$disk" bs=512 seek=$((size / 4194304 * 8192)) count=$last oflag=direct conv=notrunc || return 1
  blockdev --flushbufs "$disk"
}
ways() {
  if is_nvme; then
    nvme id-ctrl -o json "$(controller)" > "$dir/id" 2>/dev/null
    jq -e . "$dir/id" > /dev/null 2>&1 || echo '{}' > "$dir/id"
    can=$(jq -r '.sanicap // 0' "$dir/id")
    [ $((can & 2)) != 0 ] && echo sanitize-block
    [ $((can & 1)) != 0 ] && echo sanitize-crypto
    [ $(($(jq -r '.oacs // 0' "$dir/id") & 2)) != 0 ] && {
      [ $(($(jq -r '.fna // 0' "$dir/id") & 4)) != 0 ] && echo format-crypto
      echo format-user-data
    }
    # The drive's own takes as long as ours, and reaches what ours does not.
    [ $((can & 4)) != 0 ] && echo sanitize-overwrite
  elif security frozen; then
    echo ata-frozen
  else
    security 'supported: enhanced erase' && echo ata-enhanced
    security supported && echo ata
  fi
  echo overwrite
}
erase() {
  case $1 in
    sanitize-block) try "$1" sanitized --sanact=2 ;;
    sanitize-crypto) try "$1" sanitized --sanact=4 ;;
    sanitize-overwrite) try "$1" sanitized --sanact=3 --owpass=1 ;;
    format-crypto) try "$1" formatted 2 ;;
    format-user-data) try "$1" formatted 1 ;;
    ata-enhanced) try "$1" ata_erased --security-erase-enhanced ;;
    ata) try "$1" ata_erased --security-erase ;;
    ata-frozen) try "$1" frozen ;;
    overwrite) try "$1" overwritten ;;
  esac
}
# Marks that stand there, each time: those of before may have gone by what was no erasure.
freshly_marked() { try marks mark && marked; }

: > "$dir/tried"
method=none
remaining=$marks
rest=$marks
# What was begun before, and cut off with the power, comes to its end first: a drive sanitizes on by itself, and keeps its password.
if is_nvme; then
  if sanitize_state; then case $state in 2 | 3) try sanitize-before settled ;; esac; fi
elif security locked; then
  try ata-unlock unlocked
fi
for way in $(ways); do
  freshly_marked || {
    # A drive whose last sanitize failed takes nothing before another has succeeded, and is erased once more then.
    case $way in overwrite | ata-frozen) continue ;; esac
    erase "$way" && freshly_marked || continue
  }
  erase "$way" || continue
  look
  # What was overwritten must be zeros; what was encrypted away reads as anything but what it was.
  case $way in *crypto) [ "$remaining" = 0 ] ;; *) [ "$remaining" = 0 ] && [ "$rest" = 0 ] ;; esac && { method=$way; break; }
done
is_nvme || ! security enabled || try ata-password no_password || method=none
smartctl -j -i -H -l error "$disk" > "$dir/drive" 2>/dev/null
jq -e . "$dir/drive" > /dev/null 2>&1 || echo '{}' > "$dir/drive"
jq -nc --arg serial "$serial" --arg bytes "$size" --arg method "$method" --arg marks $marks --arg left "$remaining" --arg filled "$rest" \
  --arg began "$began" --arg ended "$(cut -d. -f1 /proc/uptime)" --slurpfile tried "$dir/tried" --slurpfile drive "$dir/drive" \
  '{serial: $serial, bytes: ($bytes | tonumber), method: $method, marks: ($marks | tonumber), marks_left: ($left | tonumber),
    not_zero: ($filled | tonumber), seconds: (($ended | tonumber) - ($began | tonumber)), tried: $tried[-20:], drive: $drive[0]}'
[ "$method" != none ]
