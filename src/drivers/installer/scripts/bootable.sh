#!/bin/sh
# bootable UUID DISK…: makes each disk start the system by itself, by BIOS and by UEFI. GRUB was made with the installer, the same for
# all; it looks for its `grub.cfg` on the disk that it was started from, and that leads to the system's own.
. /usr/lib/innkeeper/common
uuid=$1
shift
boot=/usr/lib/innkeeper/grub
# Little-endian, N bytes of a number, as printf writes them.
number() {
  value=$1
  count=$2
  while [ "$count" -gt 0 ]; do
    printf "\\$(printf '%03o' $((value & 255)))"
    value=$((value >> 8))
    count=$((count - 1))
  done
}
put() { dd of="$1" bs=1 seek="$2" conv=notrunc 2>/dev/null; }

for disk in "$@"; do
  first=$(part "$disk" 1)
  start=$(cat "/sys/class/block/${first#/dev/}/start") || exit 1
  sectors=$((($(wc -c < $boot/core.img) + 511) / 512))
  [ "$sectors" -le 2048 ] || exit 1
  # The first sector of GRUB says where the rest is: sector, how many, and where in memory (grub-core/boot/i386/pc/diskboot.S).
  cp $boot/core.img /run/innkeeper/core
  { number $((start + 1)) 8; number $((sectors - 1)) 2; number 2080 2; } | put /run/innkeeper/core 500
  dd if=/run/innkeeper/core of="$first" bs=1M conv=fsync 2>/dev/null || exit 1
  # The MBR says where that first sector is (boot.S); the partition table from byte 440 on stays.
  cp $boot/boot.img /run/innkeeper/mbr
  number "$start" 8 | put /run/innkeeper/mbr 92
  dd if=/run/innkeeper/mbr of="$disk" bs=440 count=1 conv=notrunc,fsync 2>/dev/null || exit 1

  mkdir -p /tmp/esp
  mount -t vfat "$(part "$disk" 2)" /tmp/esp || exit 1
  mkdir -p /tmp/esp/EFI/BOOT /tmp/esp/grub
  cp $boot/BOOTX64.EFI /tmp/esp/EFI/BOOT/BOOTX64.EFI || exit 1
  leads_to "$uuid" > /tmp/esp/grub/grub.cfg
  umount /tmp/esp || exit 1
done
