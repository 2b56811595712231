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
size=$(blockdev --getsize64 "$disk")
began=$(cut -d. -f1 /proc/uptime)
marks=32
# A mark of its own for this disk and this time.
head -c 4096 /dev/urandom > "$dir/mark"

# Places of marks are the ends of the disk and others between them at equal distances, in blocks of 4 KiB.
mark() {
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
  way=$1
  shift
  "$@" > "$dir/log" 2>&1
  exit_status=$?
  jq -nc --arg way "$way" --arg exit "$exit_status" --rawfile log "$dir/log" \
    '{method: $way, exit: ($exit | tonumber), log: $log[-2000:]}' >> "$dir/tried"
  return $exit_status
}
controller() { printf '%s' "${disk%n*}"; }
sanitized() {
  nvme sanitize "$(controller)" -a "$1" || return 1
  until state=$(nvme sanitize-log "$(controller)" -o json | jq -r '.[].sstat // .sstat' | head -n 1) && [ $((state & 7)) != 2 ]; do sleep 5; done
  [ $((state & 7)) = 1 ]
}
ata_erased() {
  hdparm --user-master u --security-set-pass innkeeper "$disk" || return 1
  hdparm --user-master u "$1" innkeeper "$disk" && return 0
  # A drive that refused keeps its password otherwise, and is locked from its next start on.
  hdparm --user-master u --security-disable innkeeper "$disk"
  return 1
}
overwritten() {
  dd if=/dev/zero of="$disk" bs=4M count=$((size / 4194304)) oflag=direct conv=notrunc || return 1
  rest=$((size % 4194304 / 512))
  [ $rest = 0 ] || dd if=/dev/zero of="$disk" bs=512 seek=$((size / 4194304 * 8192)) count=$rest oflag=direct conv=notrunc || return 1
  blockdev --flushbufs "$disk"
}
ways() {
  case $disk in
    /dev/nvme*)
      nvme id-ctrl -o json "$(controller)" > "$dir/id" 2>/dev/null || echo '{}' > "$dir/id"
      can=$(jq -r '.sanicap // 0' "$dir/id")
      [ $((can & 2)) != 0 ] && echo sanitize-block
      [ $((can & 1)) != 0 ] && echo sanitize-crypto
      [ $(($(jq -r '.oacs // 0' "$dir/id") & 2)) != 0 ] && {
        [ $(($(jq -r '.fna // 0' "$dir/id") & 4)) != 0 ] && echo format-crypto
        echo format-user-data
      }
      ;;
    *)
      hdparm -I "$disk" > "$dir/id" 2>/dev/null
      grep -q '^[[:space:]]*supported: enhanced erase' "$dir/id" && echo ata-enhanced
      grep -q '^[[:space:]]*supported$' "$dir/id" && grep -q 'SECURITY ERASE UNIT' "$dir/id" && echo ata
      ;;
  esac
  echo overwrite
}
erase() {
  case $1 in
    sanitize-block) try "$1" sanitized 2 ;;
    sanitize-crypto) try "$1" sanitized 4 ;;
    format-crypto) try "$1" nvme format "$disk" -s 2 -f ;;
    format-user-data) try "$1" nvme format "$disk" -s 1 -f ;;
    ata-enhanced) try "$1" ata_erased --security-erase-enhanced ;;
    ata) try "$1" ata_erased --security-erase ;;
    overwrite) try "$1" overwritten ;;
  esac
}

: > "$dir/tried"
method=none
remaining=$marks
rest=$marks
if try marks mark && marked; then
  for way in $(ways); do
    erase "$way" || continue
    look
    # What was overwritten must be zeros; what was encrypted away reads as anything but what it was.
    case $way in *crypto) [ "$remaining" = 0 ] ;; *) [ "$remaining" = 0 ] && [ "$rest" = 0 ] ;; esac && { method=$way; break; }
  done
fi
smartctl -j -i -H -l error "$disk" > "$dir/drive" 2>/dev/null
jq -e . "$dir/drive" > /dev/null 2>&1 || echo '{}' > "$dir/drive"
jq -nc --arg serial "$serial" --arg bytes "$size" --arg method "$method" --arg marks $marks --arg left "$remaining" --arg filled "$rest" \
  --arg began "$began" --arg ended "$(cut -d. -f1 /proc/uptime)" --slurpfile tried "$dir/tried" --slurpfile drive "$dir/drive" \
  '{serial: $serial, bytes: ($bytes | tonumber), method: $method, marks: ($marks | tonumber), marks_left: ($left | tonumber),
    not_zero: ($filled | tonumber), seconds: (($ended | tonumber) - ($began | tonumber)), tried: $tried, drive: $drive[0]}'
[ "$method" != none ]
