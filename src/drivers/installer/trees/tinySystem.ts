/**
 * What runs on a server with the small system: BusyBox' init and a few small scripts. Values that customers choose arrive as files and are
 * only ever read into quoted variables.
 */

export const inittab = `::sysinit:/etc/innkeeper/boot
::respawn:/usr/sbin/dropbear -F -R -E
::respawn:/bin/acpid -f -l /dev/null
ttyS0::respawn:/bin/getty -L 115200 ttyS0 vt100
tty1::respawn:/bin/getty 38400 tty1
::ctrlaltdel:/bin/reboot
::shutdown:/bin/umount -a -r
`;

/** What GRUB of the installer reads on the system's own disk, which it has found as \`root\`. */
export const grubConfiguration = `probe --set=uuid --fs-uuid $root
linux /boot/vmlinuz root=UUID=$uuid console=tty0 console=ttyS0,115200 quiet net.ifnames=0
initrd /boot/initrd
boot
`;

/**
 * First program of its initramfs: loads the drivers, puts mirrors together, finds the disk by its UUID and hands over to its init. A mirror of
 * which a disk is missing starts after six seconds, in which it may still come.
 */
export const initScript = `#!/bin/busybox sh
export PATH=/bin MDADM_NO_UDEV=1
mount -t devtmpfs dev /dev
mount -t proc proc /proc
mount -t sysfs sys /sys
while read -r module; do insmod "/modules/$module" 2>/dev/null; done < /modules.order
uuid=$(tr ' ' '\\n' < /proc/cmdline | sed -n 's/^root=UUID=//p')
tries=0
until device=$(findfs "UUID=$uuid" 2>/dev/null); do
  if [ $tries -lt 30 ]; then whole=--no-degraded; else whole=--run; fi
  # What was put together without its other half, and not started, has to be let go of first.
  [ $tries = 30 ] && mdadm --stop --scan >/dev/null 2>&1
  mdadm --assemble --scan "$whole" >/dev/null 2>&1
  [ $tries = 150 ] && exec sh
  tries=$((tries + 1))
  usleep 200000
done
mount -t ext4 -o noatime "$device" /disk || exec sh
mount --move /dev /disk/dev
mount --move /proc /disk/proc
mount --move /sys /disk/sys
exec switch_root /disk /sbin/init
`;

/** Called once in the new system, when the installer has written its identity: what of it becomes which file of the system. */
export const settleScript = `#!/bin/busybox sh
cd /etc/innkeeper/identity || exit 1
/bin/busybox --install -s /bin || exit 1
export PATH=/bin
mkdir -p /sbin /dev /proc /sys /run /tmp /mnt /var/log /etc/dropbear
mkdir -p -m 0700 /root/.ssh
ln -sf ../bin/busybox /sbin/init
chmod 1777 /tmp
name=$(cat hostname)
printf '%s\\n' "$name" > /etc/hostname
printf '127.0.0.1 localhost\\n::1 localhost\\n127.0.1.1 %s\\n' "$name" > /etc/hosts
cp resolv.conf /etc/resolv.conf
cp authorized_keys /root/.ssh/authorized_keys
chmod 0600 /root/.ssh/authorized_keys
hash=$(cat password)
umask 077
printf 'root:%s:19000:0:99999:7:::\\n' "\${hash:-*}" > /etc/shadow
`;

/** Runs at each start, before sign-in is possible. */
export const bootScript = `#!/bin/sh
export PATH=/bin:/sbin:/usr/bin:/usr/sbin
mount -o remount,rw /
mkdir -p /dev/pts && mount -t devpts pts /dev/pts
mount -t tmpfs -o mode=0755 run /run
cat /etc/hostname > /proc/sys/kernel/hostname
ip link set lo up
cd /etc/innkeeper/identity || exit 1
wanted=$(cat mac)
for port in /sys/class/net/*; do
  [ "$(cat "$port/address")" = "$wanted" ] || continue
  port=\${port##*/}
  ip link set "$port" up
  while read -r family address prefix gateway; do
    ip "-$family" addr add "$address/$prefix" dev "$port"
    ip "-$family" route add "$gateway" dev "$port" 2>/dev/null
    ip "-$family" route add default via "$gateway" dev "$port"
  done < network
done
`;

/** BusyBox' acpid runs this when the power button is pressed. */
export const powerButtonScript = `#!/bin/sh
exec /bin/poweroff
`;
