import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { rackTree, withoutRack } from '../../../test/rack/here.ts';
import { openRack, type Rack } from '../../../test/rack/netboot.ts';
import { ensureTree } from './index.ts';

const installer = process.env.INNKEEPER_TEST_INSTALLER;
const skip = withoutRack ?? (installer ? null : 'the installer is not built: npm test builds it first');
if (skip) console.warn(`Debian on servers is not tested: ${skip}`);

/** For each thing that is waited for. A server is emulated, on cores that others use too. */
const patienceMs = 600_000;
const serials = ['NVME-0001', 'SATA-0001'];
const disks = serials.map((serial) => ({
  ...{ serial, mib: 2_560 },
  kind: serial.startsWith('NVME') ? ('nvme' as const) : ('sata' as const),
}));

/** What of an installation is nobody else's, and stays. */
async function whoIs(rack: Rack): Promise<string[]> {
  const said = await rack.ssh('cat /etc/machine-id; cat /etc/ssh/ssh_host_*_key.pub');
  return (said ?? '').trim().split('\n');
}

/** Waits until it greets anew, be it after its power was away or not, and returns which start of it this is. */
async function greets(rack: Rack, before: string | null = null): Promise<string> {
  let boot: string | null = null;
  const found = async () => {
    boot = await rack.ssh('cat /proc/sys/kernel/random/boot_id');
    return boot !== null && boot !== before;
  };
  await expect.poll(found, { timeout: patienceMs, interval: 1_000 }).toBe(true);
  return boot ?? '';
}

/** All that it is to start has been started, and nothing has failed. */
async function isUp(rack: Rack): Promise<void> {
  const state = 'systemctl is-system-running; systemctl --failed --plain --no-legend; true';
  await expect.poll(() => rack.ssh(state), { timeout: patienceMs, interval: 2_000 }).toBe('running\n');
}

async function rackOf(number: number, firmware: 'bios' | 'uefi'): Promise<Rack> {
  const rack = await openRack({ number, tree: rackTree, installer: installer ?? '', disks, firmware });
  await rack.netboot.reserve(rack.mac, rack.address);
  return rack;
}

/** Has Debian installed on both disks, and waits until it greets. */
async function install(rack: Rack, userData: string | null = null): Promise<void> {
  const tree = await ensureTree(installer ?? '', 'debian-12', () => undefined);
  const plan = rack.installs(serials);
  const [first] = plan.identity.addresses;
  if (first === undefined) throw new Error('it has no address');
  rack.desk.image = { file: tree.file };
  rack.desk.plan = {
    ...plan,
    image: { sha256: tree.sha256 },
    identity: {
      ...{ ...plan.identity, userData },
      // root's password is `Bare-Metal-1`.
      passwordHash:
        '$6$innkeeper$R0HVNjvO67/YQ1gMPbot4FFp8SpmPK/Uyzgva7yH26cnkE2Mp/oFbntEOGfmEk16XpJ05WN/WQTh..Ttft4981',
      addresses: [
        first,
        { ...first, address: `${rack.network.subnet}51` },
        { family: 6, address: '2001:db8:78::5', prefix: 64, gateway: 'fe80::1' },
      ],
    },
  };
  rack.server.on();
  const ended = () => rack.told('done').length + rack.told('failed').length;
  await expect.poll(ended, { timeout: 2 * patienceMs, interval: 1_000 }).toBe(1);
  expect(rack.told('failed')).toEqual([]);
  rack.starts = 'disk';
  await greets(rack);
}

/** Each disk is taken away in turn: what is there of the mirror starts. */
async function startsFromEither(rack: Rack, was: string[]): Promise<void> {
  for (const serial of serials) {
    await rack.server.off();
    rack.server.pull(serial, true);
    rack.server.on();
    await greets(rack);
    expect(await rack.ssh('cat /proc/mdstat')).toMatch(/\[(U_|_U)\]/);
    expect(await whoIs(rack)).toEqual(was);
    await rack.server.off();
    rack.server.pull(serial, false);
  }
}

let others: string[] = [];

const userData = `#cloud-config
write_files: [{path: /root/said, content: "as it is: $(reboot)"}]
runcmd: [[sh, -c, 'echo ran >> /root/ran; cloud-init query userdata > /root/heard']]
`;

describe.skipIf(skip !== null)('Debian on a server with BIOS', () => {
  let rack: Rack;
  let was: string[];
  beforeAll(async () => {
    rack = await rackOf(5, 'bios');
  });
  afterAll(() => rack?.close());

  it(
    'is installed, and greets',
    async () => {
      await install(rack, userData);
      was = await whoIs(rack);
      others = was;
    },
    4 * patienceMs,
  );

  it(
    'is whole: its packages, what files are besides their content, and all that it starts',
    async () => {
      const packages = 'dpkg --audit && apt-get -q check > /dev/null && echo whole';
      expect(await rack.ssh(packages, patienceMs)).toBe('whole\n');
      expect(await rack.ssh('cat /proc/mdstat')).toContain('[UU]');
      expect(
        await rack.ssh('stat -c "%a %U %G %F" /usr/bin/su /usr/bin/chage /dev/null /etc/shadow /tmp'),
      ).toBe(
        [
          '4755 root root regular file',
          '2755 root shadow regular file',
          '666 root root character special file',
          '640 root shadow regular file',
          '1777 root root directory',
          '',
        ].join('\n'),
      );
      expect(await rack.ssh('getcap /usr/bin/ping; readlink /bin')).toBe(
        '/usr/bin/ping cap_net_raw=ep\nusr/bin\n',
      );
      await isUp(rack);
      // What its customer wanted done was done once, by what is no part of who the server is.
      expect(await rack.ssh('cloud-init status --wait', patienceMs)).toContain('status: done');
      expect(await rack.ssh('cat /root/said; echo; cat /root/ran')).toBe('as it is: $(reboot)\nran\n');
      expect(await rack.ssh('cat /root/heard')).toContain(userData.trim());
      expect(await whoIs(rack)).toEqual(was);
      expect(await rack.ssh('systemctl is-active mdmonitor')).toBe('active\n');
      // Debian starts it on real servers alone.
      expect(await rack.ssh('systemctl is-enabled smartmontools')).toBe('enabled\n');
    },
    3 * patienceMs,
  );

  it(
    'has its addresses, its name and its customer',
    async () => {
      const addresses = await rack.ssh('ip -o address show scope global');
      expect(addresses).toContain(` ${rack.network.subnet}50/24 `);
      expect(addresses).toContain(` ${rack.network.subnet}51/24 `);
      expect(addresses).toContain(' 2001:db8:78::5/64 ');
      expect(await rack.ssh('ip -4 route show default; ip -6 route show default')).toMatch(
        new RegExp(`^default via ${rack.network.address} .*\ndefault via fe80::1 .*\n$`),
      );
      expect(await rack.ssh('hostname; cat /etc/resolv.conf')).toBe(
        'metal1.example.com\nnameserver 192.0.2.53\n',
      );
      expect(await rack.ssh('findmnt -no OPTIONS /')).toMatch(/^rw/);
      expect(await rack.ssh('ls /etc/innkeeper/identity')).toBe('hostname\nmac\nnetwork\nresolv.conf\n');
      // By its serial line as well, which leads through its BMC.
      await expect.poll(() => rack.server.said(), { timeout: patienceMs }).toContain('metal1 login:');
      expect(await rack.ssh('sshd -T | grep -i ^permitrootlogin')).toBe('permitrootlogin yes\n');
      expect(was[0]).toMatch(/^[0-9a-f]{32}$/);
      expect(was).toHaveLength(4);
    },
    2 * patienceMs,
  );

  it(
    'starts another kernel once that is whole, and this one while it is not',
    async () => {
      const copies = 'cp /boot/$each-$(uname -r) /boot/$each-6.1.0-999-amd64';
      const copied = `set -e; for each in vmlinuz initrd.img; do ${copies}; done; echo done`;
      expect(await rack.ssh(copied, patienceMs)).toBe('done\n');
      // As a package of a kernel does it, after its initial RAM disk was made.
      const called = 'run-parts --regex "^zz-" /etc/kernel/postinst.d && echo done';
      expect(await rack.ssh(called, patienceMs)).toBe('done\n');
      let boot = await greets(rack);
      await rack.ssh('systemctl reboot');
      boot = await greets(rack, boot);
      expect(await rack.ssh('cat /proc/cmdline')).toContain('/boot/vmlinuz-6.1.0-999-amd64 ');
      expect(await whoIs(rack)).toEqual(was);
      expect(await rack.ssh('ip -o address show scope global')).toContain(' 2001:db8:78::5/64 ');
      // Its power goes in the middle of the next update.
      const cutOff = ': > /boot/initrd.img-6.1.0-999-amd64; sync; echo done';
      expect(await rack.ssh(cutOff, patienceMs)).toBe('done\n');
      await rack.server.off();
      rack.server.on();
      await greets(rack, boot);
      expect(await rack.ssh('cat /proc/cmdline')).not.toContain('6.1.0-999');
      await isUp(rack);
      expect(await rack.ssh('cat /root/ran; hostname')).toBe('ran\nmetal1.example.com\n');
    },
    6 * patienceMs,
  );

  it(
    'starts from either disk when the other is taken away, and from a new one that was made as the manual says',
    async () => {
      const [nvme = '', sata = ''] = serials;
      const alone = async (gone: string) => {
        await rack.server.off();
        rack.server.pull(gone, true);
        rack.server.on();
        await greets(rack);
        expect(await rack.ssh('cat /proc/mdstat')).toMatch(/\[(U_|_U)\]/);
        expect(await whoIs(rack)).toEqual(was);
        await rack.server.off();
        rack.server.pull(gone, false);
      };
      await alone(sata);
      // What stands at its beginning and its end is all that says what is on it.
      await rack.server.leaveBehind(sata, 0, '0', '64M');
      await rack.server.leaveBehind(sata, 0, '2550M', '10M');
      rack.server.on();
      await greets(rack);
      expect(await rack.ssh('cat /proc/mdstat')).toMatch(/\[(U_|_U)\]/);
      const replace = `set -e; exec 2>&1
        sfdisk -d /dev/nvme0n1 | grep -v '^label-id' | sed 's/, uuid=[^,]*//' | sfdisk /dev/sda
        dd if=/dev/nvme0n1 of=/dev/sda bs=440 count=1 conv=notrunc
        for part in 1 2; do dd if=/dev/nvme0n1p$part of=/dev/sda$part bs=1M; done
        mdadm --add /dev/md0 /dev/sda3
        echo done`;
      expect(await rack.ssh(replace, patienceMs)).toMatch(/\ndone\n$/);
      await expect.poll(() => rack.ssh('cat /proc/mdstat'), { timeout: patienceMs }).toContain('[UU]');
      await alone(nvme);
    },
    6 * patienceMs,
  );
});

describe.skipIf(skip !== null)('Debian on a server with UEFI', () => {
  let rack: Rack;
  beforeAll(async () => {
    rack = await rackOf(6, 'uefi');
  });
  afterAll(() => rack?.close());

  it(
    'is another system than that of any other server, and starts from either disk',
    async () => {
      await install(rack);
      const mine = await whoIs(rack);
      expect(mine).toHaveLength(4);
      for (const each of mine) expect(others).not.toContain(each);
      expect(await rack.ssh('ls -d /sys/firmware/efi')).toBe('/sys/firmware/efi\n');
      await isUp(rack);
      // Without user data it does nothing.
      const cloudInit =
        'cd /run/cloud-init && ls disabled enabled 2> /dev/null; systemctl is-active cloud-init; true';
      expect(await rack.ssh(cloudInit)).toBe('disabled\ninactive\n');
      const [said] = rack.told('inventory');
      expect(said?.inventory.bootOrder).toEqual(expect.arrayContaining(['network', 'disk']));
      await startsFromEither(rack, mine);
    },
    7 * patienceMs,
  );
});
