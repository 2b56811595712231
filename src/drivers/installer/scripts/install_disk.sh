#!/bin/sh
# Puts the image of a disk onto the one disk of the plan's layout: all but its beginning against the checksum of what came, read back
# against that of the whole, and then its beginning. Until then nothing on this disk can be started. Who the server is stands in a
# partition at its end, which cloud-init finds by its label; what the system makes of the room between is its own.
. /usr/lib/innkeeper/common
serial=$(plan '.layout.serials[0]')
disk=$(disk_of "$serial")
[ -n "$disk" ] || failed "there is no disk with the serial number $serial, or there are several"
name=${disk#/dev/}
mib=$(($(plan .image.disk.bytes) / 1048576))
has=$(($(blockdev --getsize64 "$disk") / 1048576))
# MiB that are kept back, and those of the partition with its alignment and a second partition table.
head=4
[ "$has" -ge $((mib + 8)) ] || failed "the disk $serial has $has MiB, and the system takes $((mib + 8))"
[ "$(blockdev --getss "$disk")" = 512 ] || failed "the disk $serial has sectors of $(blockdev --getss "$disk") bytes, and images of disks have 512"

# Tables of partitions stand at both ends of a disk, and of what was written of the image.
ruined() {
  umount /tmp/seed 2>/dev/null
  for at in 0 $((mib - 2)) $((has - 8)); do
    dd if=/dev/zero of="$disk" bs=1M seek=$at count=8 oflag=direct conv=notrunc 2>/dev/null
  done
  dd if=/dev/zero of="$disk" bs=512 seek=$(($(blockdev --getsize64 "$disk") / 512 - 64)) count=64 conv=notrunc,fsync 2>/dev/null
  sync
  failed "$1"
}

step write
cd /run/innkeeper || exit 1
dd if=/dev/zero of="$disk" bs=1M count=$head oflag=direct conv=notrunc 2>/dev/null || failed "the disk $serial could not be written"
mkfifo came summed packed raw
# Each of them says by itself whether it came to its end; a pipe would tell of the last one alone.
curl -sS --fail --config calls --connect-timeout 20 --speed-limit 1024 --speed-time 60 "$(said url)/image" > came & fetching=$!
tee summed packed < came > /dev/null & sharing=$!
sha256sum < summed > sum & summing=$!
zstd -dcq < packed > raw & unpacking=$!
{
  dd of=head bs=1M count=$head iflag=fullblock 2>/dev/null && dd of="$disk" bs=1M seek=$head iflag=fullblock oflag=direct conv=notrunc,fsync 2>/dev/null
} < raw & writing=$!
bytes=0
while kill -0 $writing 2>/dev/null; do
  sleep 1
  now=$(sed -n 's/^wchar: //p' /proc/$fetching/io 2>/dev/null)
  [ -n "$now" ] && bytes=$now && report progress --arg bytes "$bytes" '{kind: $kind, bytes: ($bytes | tonumber)}'
done
wait $writing || ruined "the disk $serial could not be written"
wait $fetching || ruined 'the image broke off'
wait $sharing && wait $summing || ruined 'the image could not be read'
[ "$(cut -d' ' -f1 sum)" = "$(plan .image.sha256)" ] || ruined "the image's checksum is $(cut -d' ' -f1 sum), not the expected one"
wait $unpacking || ruined 'the image could not be unpacked'
rm came summed packed raw

# What was written is what can be read, from the disk itself and not from memory.
step check
blockdev --flushbufs "$disk"
{ cat head; dd if="$disk" bs=1M skip=$head count=$((mib - head)) iflag=direct 2>/dev/null; } | sha256sum > sum & reading=$!
while kill -0 $reading 2>/dev/null; do
  sleep 2
  report progress --arg bytes "$bytes" '{kind: $kind, bytes: ($bytes | tonumber)}'
done
[ "$(cut -d' ' -f1 sum)" = "$(plan .image.disk.sha256)" ] || ruined "what can be read from the disk $serial is not what was written"
# Two copies of one image cannot be told apart on a server, and either may start with what the other has: the names of their disks, in the MBR and in the GPT, are
# the same.
names() { dd if="$1" bs=4 skip=110 count=1 2>/dev/null; dd if="$1" bs=8 skip=71 count=2 2>/dev/null; }
names head > own
if [ "$(tr -d '\0' < own | wc -c)" != 0 ]; then
  for other in $(jq -r '"/dev/" + .disks[].name' /run/innkeeper/disks); do
    [ "$other" = "$disk" ] && continue
    names "$other" > others
    cmp -s own others && ruined "${other##*/} has the same system, and neither could be told from the other: install it there, or wipe that disk as well"
  done
fi
dd if=head of="$disk" bs=1M oflag=direct conv=notrunc,fsync 2>/dev/null || ruined "the disk $serial could not be written"
dd if="$disk" bs=1M count=$head iflag=direct 2>/dev/null | cmp -s - head || ruined "what can be read from the disk $serial is not what was written"

step identity
sectors=$(($(blockdev --getsize64 "$disk") / 512))
if sfdisk -d "$disk" 2>/dev/null | grep -q '^label: gpt'; then
  sfdisk -q --relocate gpt-bak-std "$disk" > log 2>&1 || ruined "the image's partitions: $(tail -n 1 log)"
  type='EBD0A0A2-B9E5-4433-87C0-68B6B72699C7, name=cidata'
else
  type=c
  # No table of this kind names what lies behind.
  [ "$sectors" -gt 4294967040 ] && sectors=4294967040
fi
start=$(((sectors - 2048 - 8192) / 2048 * 2048))
printf 'start=%s, size=8192, type=%s\n' "$start" "$type" | sfdisk -q --append "$disk" > log 2>&1 || ruined "the image leaves no room for another partition: $(tail -n 1 log)"
seed=
tries=0
until [ -n "$seed" ] && [ -b "$seed" ] || [ $tries = 50 ]; do
  for each in /sys/class/block/"$name"/*/start; do
    [ "$(cat "$each" 2>/dev/null)" = "$start" ] || continue
    each=${each%/start}
    seed=/dev/${each##*/}
  done
  sleep 0.1
  tries=$((tries + 1))
done
mkfs.fat -n CIDATA "$seed" > log 2>&1 || ruined "who the server is could not be written: $(tail -n 1 log)"
mkdir -p /tmp/seed
mount -t vfat "$seed" /tmp/seed || ruined 'who the server is could not be written'
for file in $(plan '.image.disk.seed | keys[]'); do
  jq -j --arg file "$file" '.image.disk.seed[$file]' plan > "/tmp/seed/$file" || ruined 'who the server is could not be written'
done
# By which another installation knows it.
printf 'Who this server is, for cloud-init.\n' > /tmp/seed/innkeeper
umount /tmp/seed || ruined 'who the server is could not be written'

step boot
give_way any "$disk"
sync
