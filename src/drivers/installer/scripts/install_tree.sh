#!/bin/sh
# Puts a system's file tree onto the disks of the plan's layout: partitions, RAID1 where there are several, the tree against its
# checksum, who the server is, and last of all what starts it. Until then nothing on these disks can be started.
. /usr/lib/innkeeper/common
export MDADM_NO_UDEV=1
plan '.layout.serials[]' > /run/innkeeper/layout
disks=
parts=
while IFS= read -r serial; do
  disk=$(disk_of "$serial")
  [ -n "$disk" ] || failed "there is no disk with the serial number $serial, or there are several"
  disks="$disks $disk"
  parts="$parts $(part "$disk" 3)"
done < /run/innkeeper/layout

# Names of disks are the kernel's, so from here on they are split at spaces.
step partition
for disk in $disks; do
  # BIOS and UEFI at once: GRUB's own place, an EFI system partition, and the rest.
  printf 'label: gpt\nsize=1MiB, type=21686148-6449-6E6F-744E-656564454649\nsize=32MiB, type=C12A7328-F81F-11D2-BA4B-00A0C93EC93B\ntype=A19D880F-05FC-4D3B-A006-743F0F84911E\n' |
    sfdisk -q --wipe always --wipe-partitions always "$disk" || failed "partitions of $disk"
  tries=0
  until [ -b "$(part "$disk" 3)" ] || [ $tries = 50 ]; do sleep 0.1; tries=$((tries + 1)); done
  mkfs.fat -n EFI "$(part "$disk" 2)" > /dev/null 2>&1 || failed "the EFI partition of $disk"
done
root=${parts# }
if [ "$(plan .layout.kind)" = raid1 ]; then
  set -- $parts
  # Both were wiped to zeros, or will be written wholly by a first check; to copy one to the other now would take hours.
  mdadm --create /dev/md0 --run --level=1 --raid-devices=$# --metadata=1.2 --homehost=any --name=root --assume-clean $parts 2> /run/innkeeper/log ||
    failed "RAID1: $(tail -n 1 /run/innkeeper/log)"
  root=/dev/md0
fi
# GRUB of Debian 12 does not read this feature.
mke2fs -q -F -t ext4 -L root -O ^metadata_csum_seed "$root" || failed 'the file system'
uuid=$(blkid -s UUID -o value "$root")
mount -t ext4 "$root" /mnt || failed 'the file system cannot be mounted'

# Whatever breaks off in the middle leaves disks that hold nothing to start.
ruined() {
  umount /mnt 2>/dev/null
  [ "$root" = /dev/md0 ] && mdadm --stop /dev/md0 2>/dev/null
  for disk in $disks; do
    wipefs -qaf "$(part "$disk" 3)" "$(part "$disk" 2)" "$disk"
    dd if=/dev/zero of="$disk" bs=1M count=4 oflag=direct 2>/dev/null
  done
  sync
  failed "$1"
}

step write
cd /run/innkeeper || exit 1
mkfifo came summed packed tree
# Each of them says by itself whether it came to its end; a pipe would tell of the last one alone.
curl -sS --fail --config calls --connect-timeout 20 --speed-limit 1024 --speed-time 60 "$(said url)/image" > came & fetching=$!
tee summed packed < came > /dev/null & sharing=$!
sha256sum < summed > sum & summing=$!
zstd -dcq < packed > tree & unpacking=$!
tar -x -f - -C /mnt --numeric-owner --xattrs --xattrs-include='security.*' < tree & writing=$!
while kill -0 $writing 2>/dev/null; do
  sleep 1
  bytes=$(sed -n 's/^wchar: //p' /proc/$fetching/io 2>/dev/null)
  # Told for whoever watches, and not worth waiting for.
  [ -n "$bytes" ] && patience=0 && report progress --arg bytes "$bytes" '{kind: $kind, bytes: ($bytes | tonumber)}'
done
patience=600
wait $fetching || ruined 'the image broke off'
wait $sharing && wait $summing || ruined 'the image could not be read'
[ "$(cut -d' ' -f1 sum)" = "$(plan .image.sha256)" ] || ruined "the image's checksum is $(cut -d' ' -f1 sum), not the expected one"
wait $unpacking && wait $writing || ruined 'the image could not be written'
rm came summed packed tree

step identity
identify "$root" "$uuid" || ruined 'the system did not take its identity'

step boot
bootable "$uuid" $disks || ruined 'the boot loader could not be written'
# Other disks stay as they are but for this: a system of ours that was on one before would start instead of this one, so what starts there leads here.
mkdir -p /tmp/other
for name in $(jq -r '.disks[].name' /run/innkeeper/disks); do
  case " $disks " in *" /dev/$name "*) continue ;; esac
  efi=$(part "/dev/$name" 2)
  [ -b "$efi" ] && mount -t vfat -o ro "$efi" /tmp/other 2>/dev/null || continue
  if grep -q '^search --no-floppy --fs-uuid --set=root ' /tmp/other/grub/grub.cfg 2>/dev/null; then
    mount -o remount,rw "$efi" /tmp/other && leads_to "$uuid" > /tmp/other/grub/grub.cfg
  fi
  umount /tmp/other
done
give_way image $disks
umount /mnt || ruined 'the file system does not let go'
[ "$root" = /dev/md0 ] && { mdadm --stop /dev/md0 2>/dev/null || ruined 'the RAID does not let go'; }
sync
