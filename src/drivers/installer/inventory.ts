import { type Static, Type } from 'typebox';
import { Compile } from 'typebox/compile';
import { InstallerError } from './failure.ts';
import { isSerial } from './plan.ts';

const Text = (maxLength = 200) => Type.String({ maxLength });
const Count = Type.Integer({ minimum: 0, maximum: Number.MAX_SAFE_INTEGER });
const Maybe = <T extends Type.TSchema>(schema: T) => Type.Optional(Type.Union([schema, Type.Null()]));

/** A disk as `lsblk` has it, with what `smartctl` and `nvme` say. They say more, which is left. */
const RawDisk = Type.Object({
  name: Type.String({ pattern: '^[a-z0-9]{1,32}$' }),
  size: Count,
  rota: Type.Boolean(),
  tran: Maybe(Text(20)),
  'log-sec': Count,
  smart: Type.Object({
    model_name: Type.Optional(Text()),
    serial_number: Type.Optional(Text()),
    firmware_version: Type.Optional(Text()),
    smart_status: Type.Optional(Type.Object({ passed: Type.Optional(Type.Boolean()) })),
  }),
});

/** `lscpu -J` nests what belongs together in newer versions. */
const RawField = Type.Object({ field: Text(), data: Maybe(Text(4_000)) });

export const RawInventory = Type.Object({
  kind: Type.Literal('inventory'),
  system: Type.Object({
    uuid: Text(),
    vendor: Text(),
    product: Text(),
    serial: Text(),
    firmware: Text(),
    boot: Type.Union([Type.Literal('bios'), Type.Literal('uefi')]),
  }),
  memory_kib: Count,
  memory: Text(200_000),
  lscpu: Type.Array(RawField, { maxItems: 200 }),
  links: Type.Array(
    Type.Object({
      ifname: Text(20),
      address: Type.Optional(Text(60)),
      operstate: Type.Optional(Text(20)),
      link_type: Type.Optional(Text(20)),
    }),
    { maxItems: 256 },
  ),
  disks: Type.Array(RawDisk, { maxItems: 256 }),
  bmc: Text(20_000),
});

/** What a server has, as its installer measured it. Sizes are bytes unless their names say otherwise. */
export interface Inventory {
  system: { uuid: string; vendor: string; product: string; serial: string };
  /** What it starts with: the maker's version, and whether that is BIOS or UEFI. */
  firmware: { version: string; boot: 'bios' | 'uefi' };
  processor: { model: string; sockets: number; cores: number; threads: number };
  memoryMib: number;
  memoryModules: { slot: string; mib: number; type: string }[];
  disks: InventoryDisk[];
  ports: { name: string; mac: string; linked: boolean }[];
  /** Its controller, as it is seen from inside; null where the machine's own bus has none. */
  bmc: { firmware: string | null; address: string | null; mac: string | null } | null;
}

export interface InventoryDisk {
  serial: string;
  model: string;
  firmware: string;
  bytes: number;
  kind: 'nvme' | 'ssd' | 'hdd';
  /** What the drive says of itself; null when it says nothing. */
  healthy: boolean | null;
}

const compiled = Compile(RawInventory);

/**
 * The inventory out of what the installer sent. What a server says is a stranger's word until it is accepted, so anything out of
 * form is refused (`report_invalid`): lengths, control characters, two disks with one serial number.
 */
export function readInventory(raw: unknown): Inventory {
  if (!compiled.Check(raw)) throw new InstallerError('report_invalid', `the inventory: ${firstError(raw)}`);
  const inventory = understood(raw);
  refuseControlCharacters(inventory);
  const serials = inventory.disks.map((disk) => disk.serial);
  if (new Set(serials).size !== serials.length)
    throw new InstallerError('report_invalid', 'the inventory: two disks have one serial number');
  return inventory;
}

function firstError(raw: unknown): string {
  const [error] = compiled.Errors(raw);
  return error ? `${error.instancePath || 'it'} ${error.message}` : 'it has another form';
}

function understood(raw: Static<typeof RawInventory>): Inventory {
  const { uuid, vendor, product, serial, firmware, boot } = raw.system;
  return {
    system: { uuid, vendor, product, serial },
    firmware: { version: firmware, boot },
    processor: processorOf(raw.lscpu),
    memoryMib: Math.round(raw.memory_kib / 1024),
    memoryModules: modulesOf(raw.memory),
    // What says no serial number can be neither chosen nor wiped by name: card readers and virtual media of a BMC.
    disks: raw.disks.filter((disk) => isSerial(disk.smart.serial_number ?? '')).map(diskOf),
    ports: raw.links
      .filter(
        (link) => link.link_type === 'ether' && /^([0-9a-f]{2}:){5}[0-9a-f]{2}$/.test(link.address ?? ''),
      )
      .map((link) => ({ name: link.ifname, mac: link.address ?? '', linked: link.operstate === 'UP' })),
    bmc: controllerOf(raw.bmc),
  };
}

function diskOf({ size, rota, tran, smart }: Static<typeof RawDisk>): InventoryDisk {
  return {
    serial: smart.serial_number ?? '',
    model: smart.model_name ?? '',
    firmware: smart.firmware_version ?? '',
    bytes: size,
    kind: tran === 'nvme' ? 'nvme' : rota ? 'hdd' : 'ssd',
    healthy: smart.smart_status?.passed ?? null,
  };
}

function processorOf(fields: Static<typeof RawField>[]): Inventory['processor'] {
  const said = (name: string) => fields.find((each) => each.field === `${name}:`)?.data ?? '';
  const counted = (name: string) => Math.max(1, Number.parseInt(said(name), 10) || 1);
  const sockets = counted('Socket(s)');
  return {
    model: said('Model name'),
    sockets,
    cores: sockets * counted('Core(s) per socket'),
    threads: counted('CPU(s)'),
  };
}

/** `dmidecode -t memory`: a block for each slot, with fields of its own; empty slots say so in words. */
function modulesOf(text: string): Inventory['memoryModules'] {
  return text.split(/\n\s*\n/).flatMap((block) => {
    const said = (name: string) => block.match(new RegExp(`^\\s*${name}: (.{1,80})$`, 'm'))?.[1] ?? '';
    const [, amount = '', unit] = said('Size').match(/^(\d{1,7}) (MB|GB|TB)$/) ?? [];
    if (!block.trimStart().startsWith('Memory Device') || !unit) return [];
    const mib = Number(amount) * { MB: 1, GB: 1024, TB: 1024 * 1024 }[unit as 'MB' | 'GB' | 'TB'];
    return [{ slot: said('Locator'), mib, type: said('Type') }];
  });
}

/** What `ipmitool` says over the machine's own bus. */
function controllerOf(text: string): Inventory['bmc'] {
  const said = (name: string) => text.match(new RegExp(`^${name} *: (.{1,80})$`, 'm'))?.[1]?.trim() ?? null;
  if (said('Device ID') === null) return null;
  return { firmware: said('Firmware Revision'), address: said('IP Address'), mac: said('MAC Address') };
}

function refuseControlCharacters(value: unknown): void {
  if (typeof value === 'string' && [...value].some((character) => character < ' ' || character === '\x7f'))
    throw new InstallerError('report_invalid', 'the inventory: a text holds control characters');
  if (typeof value === 'object' && value !== null) Object.values(value).forEach(refuseControlCharacters);
}
