/**
 * What runs inside a `tiny` guest: BusyBox' init and two small scripts. Values that customers choose arrive as
 * files of the seed disk and are only ever read into quoted variables.
 */

export const inittab = `::sysinit:/etc/innkeeper/boot
::respawn:/usr/sbin/dropbear -F -R -E
::respawn:/bin/acpid -f -l /dev/null
::respawn:/usr/sbin/qemu-ga -m virtio-serial -p /dev/agent -t /run -f /run/qemu-ga.pid
ttyS0::respawn:/bin/getty -L 115200 ttyS0 vt100
tty1::respawn:/bin/getty 38400 tty1
::ctrlaltdel:/bin/reboot
::shutdown:/bin/umount -a -r
`;

/**
 * Runs once a boot, before sign-in is possible. The seed is a tar archive on the second disk, or on a disc: `hostname`,
 * `network` (lines of family, address, prefix, gateway), `resolv.conf`, and only before `forgetSecrets`
 * `password` (a crypt(5) hash) and `authorized_keys`, which are taken over once and then live on this disk. As
 * rescue system (a file `rescue`) it takes them from the machine's own disk, the third, when the seed has none.
 */
export const bootScript = `#!/bin/sh
export PATH=/bin:/sbin:/usr/bin:/usr/sbin
mount -t sysfs sys /sys
mkdir -p /dev/pts && mount -t devpts pts /dev/pts
mount -t tmpfs -o mode=0755 run /run
mkdir -m 0700 /run/seed
for device in /dev/vdb /dev/sr0; do tar -x -f "$device" -C /run/seed 2>/dev/null && break; done
cd /run/seed

name=$(cat hostname)
printf '%s' "$name" > /proc/sys/kernel/hostname
printf '%s\\n' "$name" > /etc/hostname
printf '127.0.0.1 localhost\\n::1 localhost\\n127.0.1.1 %s\\n' "$name" > /etc/hosts
cp resolv.conf /etc/resolv.conf

if [ -f rescue ] && [ ! -f password ] && [ ! -f authorized_keys ]; then
  for device in /dev/vdc /dev/vdc?*; do
    mount -t ext4 -o ro,noload "$device" /mnt 2>/dev/null || continue
    cp /mnt/root/.ssh/authorized_keys authorized_keys 2>/dev/null
    hash=$(awk -F: '$1 == "root" && $2 ~ /^[$]/ { print $2 }' /mnt/etc/shadow 2>/dev/null)
    [ -n "$hash" ] && printf '%s' "$hash" > password
    umount /mnt
  done
fi
if [ ! -f /etc/innkeeper/claimed ]; then
  if [ -f authorized_keys ]; then cp authorized_keys /root/.ssh/authorized_keys; chmod 0600 /root/.ssh/authorized_keys; fi
  if [ -f password ]; then printf 'root:%s\\n' "$(cat password)" | chpasswd -e; fi
  : > /etc/innkeeper/claimed
  sync
fi

ip link set lo up
echo 0 > /proc/sys/net/ipv6/conf/eth0/accept_ra
echo 0 > /proc/sys/net/ipv6/conf/eth0/accept_dad
ip link set eth0 up
while read -r family address prefix gateway; do
  ip "-$family" addr add "$address/$prefix" dev eth0
  ip "-$family" route add "$gateway" dev eth0 2>/dev/null
  ip "-$family" route add default via "$gateway" dev eth0
done < network
cd / && rm -rf /run/seed

for port in /sys/class/virtio-ports/*; do
  [ "$(cat "$port/name")" = org.qemu.guest_agent.0 ] && ln -s "/dev/\${port##*/}" /dev/agent
done
# Before sign-in, and settled: who can use the machine can also take its power away.
resize2fs /dev/vda >/dev/null 2>&1 && sync
`;

/** What QEMU's guest agent calls to set a password; BusyBox' build in Debian has none. Reads \`user:password\`. */
export const chpasswdScript = `#!/bin/sh
umask 077
while IFS= read -r line; do
  user=\${line%%:*}
  secret=\${line#*:}
  [ "$1" = -e ] || secret=$(printf '%s\\n' "$secret" | mkpasswd -m sha512 -P 0)
  USER_NAME=$user USER_HASH=$secret awk 'BEGIN { FS = OFS = ":" }
    $1 == ENVIRON["USER_NAME"] { $2 = ENVIRON["USER_HASH"] } { print }' /etc/shadow > /etc/shadow.new &&
    mv /etc/shadow.new /etc/shadow
done
sync
`;

/** BusyBox' acpid runs this when the power button is pressed. */
export const powerButtonScript = `#!/bin/sh
exec /bin/poweroff
`;
