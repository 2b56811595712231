#!/bin/sh
# give_way KIND DISK…: all disks but these stay as they are, but for what would start instead of what was installed just now. A system that
# came as an image is not started any more, and who the server was is not read any more. With KIND `any`, a system of a file tree gives way as well.
. /usr/lib/innkeeper/common
kind=$1
shift
mkdir -p /tmp/other
for name in $(jq -r '.disks[].name' /run/innkeeper/disks); do
  case " $* " in *" /dev/$name "*) continue ;; esac
  seed=
  for each in /sys/class/block/"$name"/"$name"*; do
    part=/dev/${each##*/}
    [ "$(blkid -p -s LABEL -o value "$part" 2>/dev/null)" = CIDATA ] && mount -t vfat -o ro "$part" /tmp/other 2>/dev/null || continue
    [ -f /tmp/other/innkeeper ] && seed=$part
    umount /tmp/other
  done
  for each in /sys/class/block/"$name"/"$name"*; do
    part=/dev/${each##*/}
    [ -b "$part" ] && [ "$(blkid -p -s TYPE -o value "$part" 2>/dev/null)" = vfat ] && mount -t vfat -o ro "$part" /tmp/other 2>/dev/null || continue
    if [ -n "$seed" ] && [ -d /tmp/other/EFI ]; then
      mount -o remount,rw "$part" /tmp/other && mv /tmp/other/EFI "/tmp/other/EFI.$(date +%s)"
    elif [ "$kind" = any ] && grep -q '^search --no-floppy --fs-uuid --set=root ' /tmp/other/grub/grub.cfg 2>/dev/null; then
      # By BIOS and by UEFI, what started it goes on with the next disk.
      mount -o remount,rw "$part" /tmp/other && echo exit > /tmp/other/grub/grub.cfg
    fi
    umount /tmp/other
  done
  [ -n "$seed" ] || continue
  # INT 18h says that nothing was started.
  printf '\315\030\364\353\375' | dd of="/dev/$name" bs=1 conv=notrunc,fsync 2>/dev/null
  dd if=/dev/zero of="$seed" bs=1M count=4 conv=notrunc,fsync 2>/dev/null
done
sync
