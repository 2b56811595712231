#!/bin/sh
# identify ROOT UUID: gives the system in /mnt its identity, as files. Which of its own files they become its `settle` knows.
. /usr/lib/innkeeper/common
to=/mnt/etc/innkeeper/identity
mkdir -p "$to"
chmod 0700 "$to"
plan .identity.hostname > "$to/hostname"
plan '.identity.keys[]' > "$to/authorized_keys"
plan '.identity.passwordHash // empty' > "$to/password"
# Word for word, without a line more.
jq -j '.identity.userData // empty' /run/innkeeper/plan > "$to/user-data"
chmod 0600 "$to/user-data"
plan .identity.mac > "$to/mac"
plan '.identity.nameservers[] | "nameserver " + .' > "$to/resolv.conf"
# As machines get it: family, address, length of the prefix, gateway.
plan '.identity.addresses[] | "\(.family) \(.address) \(.prefix) \(.gateway)"' > "$to/network"
printf 'UUID=%s / ext4 errors=remount-ro 0 1\n' "$2" > /mnt/etc/fstab
mkdir -p /mnt/etc/mdadm
[ "$1" = /dev/md0 ] && mdadm --detail --scan > /mnt/etc/mdadm/mdadm.conf
mkdir -p /mnt/proc /mnt/sys /mnt/dev /mnt/run
for each in proc sys dev; do mount --bind /$each /mnt/$each || exit 1; done
chroot /mnt /usr/lib/innkeeper/settle
settled=$?
for each in dev sys proc; do umount /mnt/$each; done
rm -f "$to/password" "$to/authorized_keys" "$to/user-data"
exit $settled
