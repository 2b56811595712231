import { describe, expect, it } from 'vitest';
import { InstallerError } from './failure.ts';
import { readInventory } from './inventory.ts';
import { checkPlan, type DiskPlan, type InstallPlan, type Plan } from './plan.ts';
import { claim, hashOf, newStart, nonceReader, prove } from './proof.ts';
import { readReport } from './report.ts';

const install: InstallPlan = {
  task: 'install',
  wipe: ['A1', 'B2'],
  layout: { kind: 'raid1', serials: ['A1', 'B2'] },
  image: { sha256: 'a'.repeat(64) },
  identity: {
    hostname: 'metal.example.com',
    keys: ['ssh-ed25519 AAAA somebody'],
    passwordHash: '$6$salt$hash',
    mac: '52:54:00:be:ef:01',
    addresses: [{ family: 4, address: '192.0.2.5', prefix: 24, gateway: '192.0.2.1' }],
    nameservers: ['192.0.2.1'],
    userData: null,
  },
};
const { identity } = install;
const address = { family: 4 as const, address: '192.0.2.5', prefix: 24, gateway: '192.0.2.1' };
const rescue: Plan = {
  ...{ task: 'rescue', hostname: 'rescue', keys: [], passwordHash: null, nameservers: [] },
  ...{ mac: '52:54:00:be:ef:01', addresses: [address] },
};

const diskPlan: DiskPlan = { sha256: 'b'.repeat(64), bytes: 8 * 2 ** 20, seed: { 'meta-data': '{}' } };
const ofDisk = (change: Partial<DiskPlan> = {}): Plan => ({
  ...{ ...install, layout: { kind: 'single', serials: ['A1'] } },
  image: { ...install.image, disk: { ...diskPlan, ...change } },
});

describe('a plan', () => {
  it.each<[string, Plan]>([
    ['install', install],
    ['install on one disk', { ...install, layout: { kind: 'single', serials: ['A1'] } }],
    ['install the image of a disk', ofDisk()],
    ['wipe', { task: 'wipe', wipe: ['S/N 12-3'] }],
    ['rescue', rescue],
    ['rescue without an address', { ...rescue, addresses: [] }],
    ['wait', { task: 'wait' }],
  ])('is taken: %s', (_, plan) => {
    expect(() => checkPlan(plan)).not.toThrow();
  });

  it.each<[string, Plan]>([
    ['a disk that is written to and not wiped', { ...install, wipe: ['A1'] }],
    ['a mirror of one disk', { ...install, layout: { kind: 'raid1', serials: ['A1'] } }],
    ['one disk of two', { ...install, layout: { kind: 'single', serials: ['A1', 'B2'] } }],
    ['a disk twice', { task: 'wipe', wipe: ['A1', 'A1'] }],
    ['no disk', { task: 'wipe', wipe: [] }],
    ['a serial number of two lines', { task: 'wipe', wipe: ['A1\nB2'] }],
    ['a checksum that is none', { ...install, image: { sha256: 'abc' } }],
    ['the image of a disk on a mirror', { ...install, image: { ...install.image, disk: diskPlan } }],
    ['the image of a disk without a checksum of its own', ofDisk({ sha256: '' })],
    ['a disk of half a MiB more', ofDisk({ bytes: 8.5 * 2 ** 20 })],
    ['a disk of hardly anything', ofDisk({ bytes: 2 ** 20 })],
    ['nothing that says who the server is', ofDisk({ seed: {} })],
    ['a file beside those of cloud-init', ofDisk({ seed: { '../passwd': '' } })],
    ['a file that its place does not hold', ofDisk({ seed: { 'user-data': 'x'.repeat(600 * 1024) } })],
    ['a hostname of two lines', { ...install, identity: { ...identity, hostname: 'a\nb' } }],
    ['a key of two lines', { ...install, identity: { ...identity, keys: ['ssh-ed25519 A\ncommand'] } }],
    ['user data without end', { ...install, identity: { ...identity, userData: 'x'.repeat(65_537) } }],
    ['a password in clear', { ...rescue, passwordHash: 'secret' }],
    [
      'a rescue system at an address that is none',
      { ...rescue, addresses: [{ ...address, address: '192.0.2.5;x' }] },
    ],
    ['a rescue system of a port that is none', { ...rescue, mac: '52:54:00:be:ef' }],
    ['no MAC address', { ...install, identity: { ...identity, mac: '$(reboot)' } }],
    ['no address', { ...install, identity: { ...identity, addresses: [] } }],
    [
      'an address of the other family',
      {
        ...install,
        identity: {
          ...identity,
          addresses: [{ family: 6, address: '192.0.2.5', prefix: 24, gateway: '::1' }],
        },
      },
    ],
  ])('is refused: %s', (_, plan) => {
    expect(() => checkPlan(plan)).toThrow(InstallerError);
  });
});

describe('a start', () => {
  it('belongs to whoever claims it first, who may say so twice', () => {
    const { start } = newStart();
    const mine = claim(start, 'a secret');
    expect(mine).toMatchObject({ secretHash: hashOf('a secret'), proved: false });
    if (mine === null) throw new Error('refused');
    expect(claim(mine, 'a secret')).toEqual(mine);
    expect(claim(mine, 'of somebody else')).toBeNull();
  });

  it('stays beside others until one is proved, and then alone', () => {
    const starts = ['a', 'b', 'c']
      .map((secret) => claim(newStart().start, secret))
      .filter((each) => each !== null);
    expect(prove(starts, '0'.repeat(32))).toEqual(starts);
    expect(prove(starts, starts[1]?.nonce ?? '')).toEqual([{ ...starts[1], proved: true }]);
  });

  it('is not proved before somebody has claimed it', () => {
    const { start } = newStart();
    expect(prove([start], start.nonce)).toEqual([start]);
  });

  it('keeps nothing that opens anything', () => {
    const { token, start } = newStart();
    expect(JSON.stringify(claim(start, 'my secret'))).not.toMatch(new RegExp(`${token}|my secret`));
  });
});

describe('a nonce on a serial line', () => {
  const nonce = 'ab12'.repeat(8);
  const line = `boot...\r\nINNKEEPER-PROOF ${nonce}\r\nmore`;

  it('is read once, in pieces of any size', () => {
    for (const size of [1, 7, 16, 500]) {
      const read = nonceReader();
      const found: string[] = [];
      for (let at = 0; at < line.length; at += size) found.push(...read(line.slice(at, at + size)));
      expect(found).toEqual([nonce]);
    }
  });

  it('is none when it is longer, shorter or of other letters', () => {
    for (const text of [`${nonce}0`, nonce.slice(1), nonce.toUpperCase()])
      expect(nonceReader()(`INNKEEPER-PROOF ${text}\r\n`)).toEqual([]);
  });
});

const disk = {
  name: 'sda',
  size: 480_103_981_056,
  rota: false,
  tran: 'sata',
  'log-sec': 512,
  smart: { model_name: 'M', serial_number: 'S1', firmware_version: '1', smart_status: { passed: true } },
};
const raw = {
  kind: 'inventory',
  system: { uuid: 'u', vendor: 'v', product: 'p', serial: 's', firmware: '1.2', boot: 'uefi' },
  memory_kib: 65_843_200,
  memory:
    'Memory Device\n\tSize: 32 GB\n\tLocator: DIMM_A1\n\tType: DDR4\n\nMemory Device\n\tSize: No Module Installed\n\tLocator: DIMM_A2\n',
  lscpu: [
    { field: 'CPU(s):', data: '16' },
    { field: 'Model name:', data: 'Processor' },
    { field: 'Core(s) per socket:', data: '8' },
    { field: 'Socket(s):', data: '1' },
  ],
  links: [
    { ifname: 'lo', link_type: 'loopback', address: '00:00:00:00:00:00' },
    { ifname: 'eth0', link_type: 'ether', address: '52:54:00:be:ef:01', operstate: 'UP' },
  ],
  disks: [disk],
  bmc: 'Device ID                 : 32\nFirmware Revision         : 2.10\nIP Address              : 10.0.0.9\nMAC Address             : 52:54:00:00:00:09\n',
};

const nicOf = (at: number) => ({
  ...{ ifname: `eth${at}`, link_type: 'ether', operstate: 'UP' },
  address: `52:54:00:be:f0:${at.toString(16).padStart(2, '0')}`,
});
const nic = nicOf(0);

describe('an inventory', () => {
  it('is what the programs of the server say', () => {
    expect(readInventory(raw)).toEqual({
      system: { uuid: 'u', vendor: 'v', product: 'p', serial: 's' },
      firmware: { version: '1.2', boot: 'uefi' },
      bootOrder: null,
      processor: { model: 'Processor', sockets: 1, cores: 8, threads: 16 },
      memoryMib: 64_300,
      memoryModules: [{ slot: 'DIMM_A1', mib: 32_768, type: 'DDR4' }],
      disks: [{ serial: 'S1', model: 'M', firmware: '1', bytes: disk.size, kind: 'ssd', healthy: true }],
      ports: [{ name: 'eth0', mac: '52:54:00:be:ef:01', linked: true }],
      bmc: { firmware: '2.10', address: '10.0.0.9', mac: '52:54:00:00:00:09' },
    });
  });

  it('leaves out disks without a serial number, which nobody can name', () => {
    expect(readInventory({ ...raw, disks: [disk, { ...disk, smart: {} }] }).disks).toHaveLength(1);
  });

  it('leaves out ports whose MAC is none of a single port', () => {
    const links = ['00:00:00:00:00:00', '01:00:5e:00:00:01'].map((address) => ({ ...nic, address }));
    expect(readInventory({ ...raw, links: [...links, nic] }).ports).toHaveLength(1);
  });

  it('says what port and switch agreed on, of ports with a cable whose driver says it', () => {
    const links = [...[0, 1, 2, 3].map(nicOf), { ...nicOf(4), operstate: 'DOWN' }];
    const speeds = 'lo \neth0 10000\neth1 -1\neth2 \neth3 4294967295\neth4 1000\n';
    const read = readInventory({ ...raw, links, speeds }).ports;
    expect(read.map(({ speedMbps }) => speedMbps)).toEqual([10_000, ...Array(4).fill(undefined)]);
  });

  it('counts no more than there can be, and keeps no more words than are read', () => {
    const lscpu = [
      { field: 'CPU(s):', data: '9'.repeat(300) },
      { field: 'Model name:', data: 'm'.repeat(4_000) },
    ];
    expect(readInventory({ ...raw, lscpu }).processor).toMatchObject({
      threads: 4_096,
      model: 'm'.repeat(200),
    });
  });

  it.each<[string, () => object]>([
    ['line ends of other systems', () => ({ memory: '\r'.repeat(200_000) })],
    ['line ends of other alphabets', () => ({ memory: '\u2028'.repeat(200_000) })],
    ['a name and nothing but blanks', () => ({ bmc: `Device ID${' '.repeat(19_000)}` })],
    ['blanks before a name', () => ({ bmc: `${' '.repeat(9_000)}\n`.repeat(2) })],
    ['two megabytes of links', () => ({ links: Array.from({ length: 900_000 }, () => 1) })],
    ['two megabytes of a name', () => ({ system: { ...raw.system, vendor: 'e\u0301'.repeat(600_000) } })],
    ['two megabytes of a link', () => ({ links: [{ ...nic, address: 'a'.repeat(2_000_000) }] })],
    ['two megabytes of disks', () => ({ disks: Array.from({ length: 200_000 }, () => ({ name: '' })) })],
  ])('takes no time to be read, whatever a stranger sends: %s', (_, change) => {
    const said = { ...raw, ...change() };
    const beganMs = performance.now();
    try {
      readInventory(said);
    } catch (error) {
      expect(error).toBeInstanceOf(InstallerError);
    }
    expect(performance.now() - beganMs).toBeLessThan(500);
  });

  it.each<[string, object]>([
    ['two disks of one serial number', { disks: [disk, { ...disk, name: 'sdb' }] }],
    ['a size below nothing', { disks: [{ ...disk, size: -1 }] }],
    ['a size that is no number', { disks: [{ ...disk, size: '480' }] }],
    ['a device name that is a path', { disks: [{ ...disk, name: '../sda' }] }],
    ['a model with a line break', { disks: [{ ...disk, smart: { ...disk.smart, model_name: 'a\nb' } }] }],
    ['a vendor with a control character', { system: { ...raw.system, vendor: '\u001b[2J' } }],
    ['a vendor of a thousand letters', { system: { ...raw.system, vendor: 'v'.repeat(1_000) } }],
    ['a thousand disks', { disks: Array.from({ length: 1_000 }, () => disk) }],
    ['no links', { links: null }],
    ['a boot that is neither', { system: { ...raw.system, boot: 'openfirmware' } }],
    ['two ports of one MAC', { links: [nic, { ...nic, ifname: 'eth1' }] }],
    ['more ports than any server has', { links: Array.from({ length: 33 }, (_, at) => nicOf(at)) }],
    ['half a character', { system: { ...raw.system, serial: '\ud800' } }],
  ])('is refused with %s', (_, change) => {
    expect(() => readInventory({ ...raw, ...change })).toThrow(InstallerError);
  });
});

describe('a report', () => {
  const wiped = {
    kind: 'wiped',
    serial: 'S1',
    bytes: 1_000,
    method: 'format-user-data',
    marks: 64,
    marks_left: 0,
    not_zero: 0,
    seconds: 3,
    tried: [{ method: 'format-user-data', exit: 0, log: 'Success' }],
    drive: {},
  };
  const methodOf = (change: object) => {
    const report = readReport({ ...wiped, ...change });
    return report.kind === 'wiped' ? report.wiped.method : undefined;
  };

  it('of a wiped disk keeps what its drive says, unless that is longer than any drive’s', () => {
    const driveOf = (drive: object) => {
      const report = readReport({ ...wiped, drive });
      return report.kind === 'wiped' ? report.wiped.drive : undefined;
    };
    const usual = { model_name: 'm'.repeat(20_000) };
    expect([driveOf(usual), driveOf({ a: 'a'.repeat(66_000) })]).toEqual([usual, {}]);
    expect(methodOf({ drive: { a: 'a'.repeat(66_000) } })).toBe('format-user-data');
  });

  it('of a wiped disk has nothing in it that the database does not hold', () => {
    const log = 'a\u0000 line\nand \u001b[2J another\ud800';
    const report = readReport({ ...wiped, tried: [{ method: 'ata', exit: 0, log }], drive: { a: '\u0000' } });
    expect(report).toMatchObject({
      wiped: { tried: [{ log: 'a  line\nand  [2J another\ufffd' }], drive: {} },
    });
  });

  it('of a wiped disk counts by what could be read afterwards', () => {
    expect(methodOf({})).toBe('format-user-data');
    expect(methodOf({ marks_left: 1 })).toBeNull();
    expect(methodOf({ marks: 0 })).toBeNull();
    expect(methodOf({ not_zero: 1 })).toBeNull();
    expect(methodOf({ method: 'format-crypto', not_zero: 64 })).toBe('format-crypto');
  });

  it('of words that programs printed has none that would do anything to whoever reads them', () => {
    expect(readReport({ kind: 'bmc', address: null, problem: 'no\u0000 \u001b[2Jroom' })).toMatchObject({
      problem: 'no   [2Jroom',
    });
    expect(readReport({ kind: 'failed', reason: 'a\tb\ud800' })).toEqual({
      kind: 'failed',
      reason: 'a b\ufffd',
    });
  });

  it('of a plain format or a discard is no erasure', () => {
    for (const method of ['format', 'discard', 'none', 'blkdiscard']) expect(methodOf({ method })).toBeNull();
  });

  it.each<[string, unknown]>([
    ['nothing', null],
    ['another kind', { kind: 'reboot' }],
    ['progress below nothing', { kind: 'progress', bytes: -1 }],
    ['a step without end', { kind: 'step', step: 'x'.repeat(501), seconds: 1 }],
    ['an inventory that is none', { kind: 'inventory' }],
  ])('is refused when it is %s', (_, given) => {
    expect(() => readReport(given)).toThrow(InstallerError);
  });
});
