/** Debian packages whose programs the installer holds. */
export const packages = [
  ...['busybox-static', 'dash', 'kmod', 'iproute2', 'util-linux', 'fdisk', 'tar', 'zstd', 'jq', 'curl'],
  ...['nvme-cli', 'smartmontools', 'hdparm', 'dmidecode', 'ipmitool'],
  ...['mdadm', 'dosfstools', 'e2fsprogs', 'dropbear-bin'],
];

/** What GRUB is made of, for BIOS and for UEFI. */
export const grubPackages = ['grub-common', 'grub-pc-bin', 'grub-efi-amd64-bin'];

/** Programs by their path in their package. All others that scripts call are BusyBox'. */
export const programs = [
  ...['bin/dash', 'bin/kmod', 'bin/ip', 'bin/lsblk', 'bin/tar', 'usr/bin/lscpu', 'usr/bin/zstd'],
  ...['usr/bin/jq', 'usr/bin/curl', 'usr/bin/ipmitool', 'usr/sbin/nvme', 'usr/sbin/smartctl'],
  ...['sbin/hdparm', 'usr/sbin/dmidecode', 'sbin/blkid', 'sbin/blockdev', 'sbin/wipefs', 'sbin/sfdisk'],
  ...['sbin/mdadm', 'sbin/mkfs.fat', 'sbin/mke2fs', 'sbin/e2fsck', 'sbin/resize2fs'],
  ...['usr/sbin/dropbear', 'usr/bin/dropbearkey'],
];

/** Folders of the kernel's modules in which servers find theirs; what these need besides comes along. */
export const moduleFolders = [
  ...['drivers/ata', 'drivers/nvme', 'drivers/md', 'drivers/virtio', 'drivers/char/ipmi', 'drivers/firmware'],
  ...['megaraid', 'mpt3sas', 'aacraid', 'smartpqi'].map((maker) => `drivers/scsi/${maker}`),
  ...['intel', 'broadcom', 'mellanox', 'realtek', 'marvell'].map((maker) => `drivers/net/ethernet/${maker}`),
  ...['drivers/net/phy', 'fs/ext4', 'fs/fat', 'fs/nls', 'fs/efivarfs'],
];

/** Single modules, by their names. */
export const modules = [
  ...[
    'sd_mod',
    'sg',
    'hpsa',
    'virtio_scsi',
    'virtio_blk',
    'virtio_net',
    'hwmon',
    'coretemp',
    'crc32c_generic',
  ],
  ...['crc32c_intel', 'crc32_pclmul'],
];

/** Files that programs look for. */
export const files = [
  { path: 'etc/passwd', content: 'root:x:0:0:root:/root:/bin/sh\n' },
  { path: 'etc/group', content: 'root:x:0:\ntty:x:5:\ndisk:x:6:\n' },
  { path: 'etc/shadow', content: 'root:*:19000:0:99999:7:::\n', mode: 0o600 },
  { path: 'etc/shells', content: '/bin/sh\n' },
  { path: 'etc/nsswitch.conf', content: 'passwd: files\ngroup: files\nshadow: files\nhosts: files dns\n' },
  { path: 'etc/profile', content: 'export PATH=/usr/sbin:/usr/bin\n' },
];
