import { cloudInitModules, type FileEntry } from '../../debian/index.ts';

/**
 * What of a server's Debian is ours: how it takes the identity that the installer has written, and the menu of its kernels. All else is as
 * Debian's packages leave it. Values that customers choose arrive as files and are only ever read into quoted variables.
 */

/** Called once in the new system, when the installer has written its identity. Whatever fails ends the installation. */
const settleScript = `#!/bin/sh
set -e
export PATH=/usr/sbin:/usr/bin:/sbin:/bin LC_ALL=C.UTF-8
cd /etc/innkeeper/identity

name=$(cat hostname)
printf '%s\\n' "$name" > /etc/hostname
printf '127.0.0.1 localhost\\n127.0.1.1 %s %s\\n::1 localhost ip6-localhost ip6-loopback\\n' "$name" "\${name%%.*}" > /etc/hosts
rm -f /etc/resolv.conf
cp resolv.conf /etc/resolv.conf
chmod 0644 /etc/resolv.conf

# Keys and id of this installation alone, here and not at the first start: the power may go in the middle of that.
tr -d - < /proc/sys/kernel/random/uuid > /etc/machine-id
ssh-keygen -q -A
mkdir -p -m 0700 /root/.ssh
cp authorized_keys /root/.ssh/authorized_keys
chmod 0600 /root/.ssh/authorized_keys
if [ -s password ]; then
  printf 'root:%s\\n' "$(cat password)" | chpasswd -e
  printf 'PermitRootLogin yes\\n' > /etc/ssh/sshd_config.d/10-root.conf
fi

# The port is known by its address, whatever the kernel calls it; what is made upon it later (VLANs, bridges) has the same address and another type.
network=/etc/systemd/network/10-server.network
{
  printf '[Match]\\nMACAddress=%s\\nType=ether\\n\\n[Network]\\nDHCP=no\\nIPv6AcceptRA=no\\n' "$(cat mac)"
  while read -r family address prefix gateway; do printf 'Address=%s/%s\\n' "$address" "$prefix"; done < network
  while read -r family address prefix gateway; do printf '%s\\n' "$gateway"; done < network | sort -u |
    while read -r gateway; do printf '\\n[Route]\\nGateway=%s\\nGatewayOnLink=yes\\n' "$gateway"; done
} > $network

# What its customer gave for cloud-init, which does nothing otherwise. It has the name of this installation, so that it is done once.
seed=/var/lib/cloud/seed/nocloud
rm -rf $seed
: > /etc/cloud/cloud-init.disabled
if [ -s user-data ]; then
  mkdir -p -m 0700 $seed
  cp user-data $seed/user-data
  printf 'instance-id: "%s"\\nlocal-hostname: "%s"\\n' "$(cat /etc/machine-id)" "$name" > $seed/meta-data
  chmod 0600 $seed/*
  rm /etc/cloud/cloud-init.disabled
fi

# The mirror by its own number, when the installer has made one; mdadm watches it and tells the journal.
arrays=$(sed -n '/^ARRAY .*UUID=/p' /etc/mdadm/mdadm.conf)
printf 'HOMEHOST <system>\\nMAILADDR root\\n%s\\n' "$arrays" > /etc/mdadm/mdadm.conf

update-boot-menu
`;

/**
 * The kernels that GRUB offers. Each is named by its own files and only where they are whole, so that the server starts one of them wherever an update
 * breaks off. GRUB of the installer reads this, having found the system's disk as \`root\`.
 */
const bootMenuScript = `#!/bin/sh
# update-boot-menu: writes /boot/grub/grub.cfg: all kernels that have their initial RAM disk, the newest first. Packages of kernels call it.
# What else kernels are to be told stands in /etc/kernel/cmdline. A menu that GRUB's own update-grub has written is left alone.
set -e
menu=/boot/grub/grub.cfg
mark='# Written by update-boot-menu.'
if [ -e $menu ] && ! grep -qxF "$mark" $menu; then exit 0; fi
parameters=$(tr '\\n' ' ' < /etc/kernel/cmdline)
mkdir -p /boot/grub
{
  printf '%s\\n' "$mark"
  cat << 'END'
set timeout=2
set default=0
set fallback=1
if serial --unit=0 --speed=115200; then
  terminal_input console serial
  terminal_output console serial
fi
probe --set=uuid --fs-uuid $root
export uuid
END
  for kernel in $(linux-version list | linux-version sort --reverse); do
    [ -s "/boot/vmlinuz-$kernel" ] && [ -s "/boot/initrd.img-$kernel" ] || continue
    cat << END
if [ -s /boot/vmlinuz-$kernel -a -s /boot/initrd.img-$kernel ]; then
menuentry 'Debian GNU/Linux, Linux $kernel' --id '$kernel' {
  linux /boot/vmlinuz-$kernel root=UUID=\\$uuid ro $parameters
  initrd /boot/initrd.img-$kernel
}
fi
END
  done
} > $menu.new
if ! grep -q '^menuentry ' $menu.new; then
  rm $menu.new
  echo 'update-boot-menu: there is no kernel with an initial RAM disk' >&2
  exit 1
fi
# Kernels first, then who names them.
sync -f /boot
mv $menu.new $menu
sync -f /boot
`;

/** A package's scripts may speak to debconf by their output. */
const kernelHook = '#!/bin/sh\nexec update-boot-menu < /dev/null >&2\n';

/**
 * What cloud-init does on a server: what the customer's user data says, by the same modules as on a machine. Who the server is, is there before it starts, and is left
 * as it is unless the user data says otherwise: addresses, names, host keys, root's keys and password, and the size of its disks.
 */
const cloudInit = `datasource_list: [NoCloud]
network: {config: disabled}
prefer_fqdn_over_hostname: true
manage_etc_hosts: false
users: []
disable_root: false
ssh_deletekeys: false
ssh_genkeytypes: [rsa, ecdsa, ed25519]
apt_preserve_sources_list: true
growpart: {mode: "off"}
resize_rootfs: false
${cloudInitModules}`;

/** For the initial RAM disk, which is the same on all servers: the mirror by the name that the installer gives to each. */
export const namedArrays = 'HOMEHOST <system>\nMAILADDR root\nARRAY /dev/md0 metadata=1.2 name=any:root\n';

/** Documentation and translations make half of a minimal system; licences stay. */
export const unwanted = [
  'path-exclude=/usr/share/man/*',
  'path-exclude=/usr/share/locale/*',
  'path-exclude=/usr/share/doc/*',
  'path-include=/usr/share/doc/*/copyright',
];

/** Each with its own permissions. */
export const files: Required<FileEntry>[] = [
  { path: 'usr/lib/innkeeper/settle', content: settleScript, mode: 0o755 },
  { path: 'usr/sbin/update-boot-menu', content: bootMenuScript, mode: 0o755 },
  { path: 'etc/kernel/postinst.d/zz-boot-menu', content: kernelHook, mode: 0o755 },
  { path: 'etc/kernel/postrm.d/zz-boot-menu', content: kernelHook, mode: 0o755 },
  // The last one is where the system speaks, and where one signs in through the BMC.
  { path: 'etc/kernel/cmdline', content: 'quiet console=tty0 console=ttyS0,115200\n', mode: 0o644 },
  { path: 'etc/dpkg/dpkg.cfg.d/no-documentation', content: `${unwanted.join('\n')}\n`, mode: 0o644 },
  { path: 'etc/cloud/cloud.cfg.d/90_innkeeper.cfg', content: cloudInit, mode: 0o644 },
  // Until somebody is installed with user data.
  { path: 'etc/cloud/cloud-init.disabled', content: '', mode: 0o644 },
  { path: 'etc/default/locale', content: 'LANG=C.UTF-8\n', mode: 0o644 },
  // As of no server yet: filled when it is installed.
  { path: 'etc/machine-id', content: '', mode: 0o444 },
  { path: 'etc/hostname', content: 'debian\n', mode: 0o644 },
  { path: 'etc/fstab', content: '', mode: 0o644 },
];

/** What the host that built it, or its time, left in the system; by their paths, `*` for any characters but slashes. */
export const leftovers = [
  ...['etc/ssh/ssh_host_*', 'var/lib/systemd/random-seed'],
  ...['var/lib/dbus/machine-id', 'var/log/*.log', 'etc/resolv.conf'],
  ...['etc/apt/apt.conf.d/99mmdebstrap', 'etc/dpkg/dpkg.cfg.d/99mmdebstrap'],
];

/** Debian's packages, and what they need. */
export const packages = [
  ...['systemd-sysv', 'systemd-timesyncd', 'dbus', 'udev'],
  ...['linux-image-amd64', 'initramfs-tools', 'busybox', 'zstd', 'intel-microcode', 'amd64-microcode'],
  ...['mdadm', 'e2fsprogs', 'dosfstools', 'fdisk', 'smartmontools', 'pciutils', 'ethtool'],
  ...['openssh-server', 'ca-certificates', 'iproute2', 'iputils-ping', 'libcap2-bin', 'procps'],
  ...['less', 'nano', 'sudo', 'curl', 'cloud-init'],
];
