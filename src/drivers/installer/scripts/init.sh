#!/bin/sh
# First program of the installer: finds what the server has, brings up its network, and hands over to the agent.
export PATH=/usr/sbin:/usr/bin
mount -t proc proc /proc
mount -t sysfs sys /sys
mount -t devtmpfs dev /dev
mkdir -p /dev/pts
mount -t devpts pts /dev/pts
mount -t tmpfs -o mode=0755 run /run
exec </dev/console >/dev/console 2>&1
echo "installer: Linux $(uname -r)"

# Twice: a bus that the first pass brings up, such as SCSI, shows its devices only then.
for pass in 1 2; do
  find /sys/devices -name modalias -exec cat {} + 2>/dev/null | sort -u | tr '\n' '\0' | xargs -0 modprobe -abq 2>/dev/null
done
modprobe -aq sd_mod ipmi_si ipmi_devintf ext4 vfat raid1 efivarfs 2>/dev/null
[ -d /sys/firmware/efi/efivars ] && mount -t efivarfs efivarfs /sys/firmware/efi/efivars 2>/dev/null

. /usr/lib/innkeeper/common
ip link set lo up
wanted=$(said mac | tr A-Z a-z)
# The port that the server started from, or whichever gets an address.
for pass in 1 2 3; do
  for port in /sys/class/net/*; do
    [ "${port##*/}" = lo ] && continue
    [ -n "$wanted" ] && [ "$(cat "$port/address")" != "$wanted" ] && continue
    ip link set "${port##*/}" up
    udhcpc -i "${port##*/}" -s /usr/lib/innkeeper/lease -n -q -t 10 -T 1 >/dev/null 2>&1 && break 2
  done
done
mkdir -m 0700 /run/innkeeper
agent
sync
sleep 2
# Its addresses may be another server's until somebody starts it.
[ "$(plan .after 2>/dev/null)" = off ] && poweroff -f
reboot -f
