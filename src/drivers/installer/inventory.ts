import { type Static, Type } from 'typebox';
import { Compile } from 'typebox/compile';
import { type BootSource, bootOrderOf } from './bootOrder.ts';
import { InstallerError } from './failure.ts';
import { isSerial } from './plan.ts';

const Text = (maxLength = 200) => Type.String({ maxLength });
const Count = Type.Integer({ minimum: 0, maximum: Number.MAX_SAFE_INTEGER });
/** Of each list. */
const mostItems = 256;
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
  lscpu: Type.Array(RawField, { maxItems: mostItems }),
  links: Type.Array(
    Type.Object({
      ifname: Text(20),
      address: Type.Optional(Text(60)),
      operstate: Type.Optional(Text(20)),
      link_type: Type.Optional(Text(20)),
    }),
    { maxItems: mostItems },
  ),
  disks: Type.Array(RawDisk, { maxItems: mostItems }),
  bmc: Text(20_000),
  /** EFI variables of what it starts from; installers of before say nothing of it. */
  efi: Type.Optional(Text(400_000)),
  /** A line for each port: its name and its speed; installers of before say nothing of it. */
  speeds: Type.Optional(Text(20_000)),
});

/** More than any server has; a stranger may say more. */
const mostPorts = 32;
const mostModules = 256;
/** More sockets, cores of one and threads there are none. */
const mostCounted = 4_096;
const longestModel = 200;
const ownMac = /^([0-9a-f]{2}:){5}[0-9a-f]{2}$/;

/** What a server has, as its installer measured it. Sizes are bytes unless their names say otherwise. */
export interface Inventory {
  system: { uuid: string; vendor: string; product: string; serial: string };
  /** What it starts with: the maker's version, and whether that is BIOS or UEFI. */
  firmware: { version: string; boot: 'bios' | 'uefi' };
  /** What its firmware starts, in order; null or absent: nobody can read that, as with BIOS. */
  bootOrder?: BootSource[] | null;
  processor: { model: string; sockets: number; cores: number; threads: number };
  memoryMib: number;
  memoryModules: { slot: string; mib: number; type: string }[];
  disks: InventoryDisk[];
  /** `speedMbps` is what port and switch have agreed on; absent: nobody knows. */
  ports: { name: string; mac: string; linked: boolean; speedMbps?: number }[];
  /** Its controller, as it is seen from inside; null where the machine's own bus has none. */
  bmc: { firmware: string | null; address: string | null; mac: string | null } | null;
}

export interface InventoryDisk {
  serial: string;
  model: string;
  firmware: string;
  bytes: number;
  /** Of one of its sectors; absent: 512. */
  sectorBytes?: number;
  kind: 'nvme' | 'ssd' | 'hdd';
  /** What the drive says of itself; null when it says nothing. */
  healthy: boolean | null;
}

const compiled = Compile(RawInventory);

/**
 * The inventory out of what the installer sent. What a server says is a stranger's word until it is accepted, so anything out of
 * form is refused (`report_invalid`): lengths, control characters, two disks with one serial number, two ports with one MAC. It takes time that
 * grows with the length of what was sent, and no faster.
 */
export function readInventory(raw: unknown): Inventory {
  if (!compiled.Check(raw)) throw invalid(firstError(raw));
  const inventory = understood(raw);
  refuseUnreadable(inventory);
  if (!areDistinct(inventory.disks.map((disk) => disk.serial)))
    throw invalid('two disks have one serial number');
  if (!areDistinct(inventory.ports.map((port) => port.mac))) throw invalid('two network ports have one MAC');
  if (inventory.ports.length > mostPorts) throw invalid(`it has more than ${mostPorts} network ports`);
  return inventory;
}

function areDistinct(texts: readonly string[]): boolean {
  return new Set(texts).size === texts.length;
}

function invalid(message: string): InstallerError {
  return new InstallerError('report_invalid', `the inventory: ${message}`);
}

function firstError(raw: unknown): string {
  // All errors of a list of a million things would be looked for.
  const lists = typeof raw === 'object' && raw !== null ? Object.entries(raw) : [];
  const long = lists.find(([, list]) => Array.isArray(list) && list.length > mostItems);
  if (long !== undefined) return `${long[0].slice(0, 20)} has more than ${mostItems} items`;
  const [error] = compiled.Errors(raw);
  return error ? `${error.instancePath || 'it'} ${error.message}` : 'it has another form';
}

function understood(raw: Static<typeof RawInventory>): Inventory {
  const { uuid, vendor, product, serial, firmware, boot } = raw.system;
  return {
    system: { uuid, vendor, product, serial },
    firmware: { version: firmware, boot },
    bootOrder: bootOrderOf(raw.efi ?? ''),
    processor: processorOf(raw.lscpu),
    memoryMib: Math.round(raw.memory_kib / 1024),
    memoryModules: modulesOf(raw.memory),
    // What says no serial number can be neither chosen nor wiped by name: card readers and virtual media of a BMC.
    disks: raw.disks.filter((disk) => isSerial(disk.smart.serial_number ?? '')).map(diskOf),
    ports: raw.links
      .filter((link) => link.link_type === 'ether' && isOfOnePort(link.address ?? ''))
      .map((link) => portOf(link, speedsOf(raw.speeds ?? ''))),
    bmc: controllerOf(raw.bmc),
  };
}

/** Faster ones there are none; what a driver does not know it says as -1. */
const mostMbps = 1_000_000;

function speedsOf(text: string): Map<string, number> {
  const lines = [...text.matchAll(/^(\S{1,20}) (\d{1,7})$/gm)];
  const known = lines.map(([, name = '', mbps]) => [name, Number(mbps)] as const);
  return new Map(known.filter(([, mbps]) => mbps > 0 && mbps <= mostMbps));
}

function portOf(
  { ifname: name, address: mac = '', operstate }: Static<typeof RawInventory>['links'][number],
  speeds: ReadonlyMap<string, number>,
): Inventory['ports'][number] {
  const linked = operstate === 'UP';
  const speedMbps = linked ? speeds.get(name) : undefined;
  return { name, mac, linked, ...(speedMbps !== undefined && { speedMbps }) };
}

/** What begins with an odd byte is for many; zeros are nobody's. */
function isOfOnePort(mac: string): boolean {
  return ownMac.test(mac) && (Number.parseInt(mac, 16) & 1) === 0 && mac !== '00:00:00:00:00:00';
}

function diskOf({ size, rota, tran, smart, 'log-sec': sectorBytes }: Static<typeof RawDisk>): InventoryDisk {
  return {
    serial: smart.serial_number ?? '',
    model: smart.model_name ?? '',
    firmware: smart.firmware_version ?? '',
    bytes: size,
    ...(sectorBytes !== 512 && { sectorBytes }),
    kind: tran === 'nvme' ? 'nvme' : rota ? 'hdd' : 'ssd',
    healthy: smart.smart_status?.passed ?? null,
  };
}

function processorOf(fields: Static<typeof RawField>[]): Inventory['processor'] {
  const said = (name: string) => fields.find((each) => each.field === `${name}:`)?.data ?? '';
  const counted = (name: string) => Math.min(mostCounted, Math.max(1, Number.parseInt(said(name), 10) || 1));
  const sockets = counted('Socket(s)');
  return {
    model: said('Model name').slice(0, longestModel),
    sockets,
    cores: sockets * counted('Core(s) per socket'),
    threads: counted('CPU(s)'),
  };
}

/** `dmidecode -t memory`: a block for each slot, with fields of its own; empty slots say so in words. */
function modulesOf(text: string): Inventory['memoryModules'] {
  return blocksOf(text)
    .flatMap(([title, ...lines]) => {
      if (title?.trim() !== 'Memory Device') return [];
      const said = fieldsOf(lines);
      const [, amount = '', unit] = (said.get('Size') ?? '').match(/^(\d{1,7}) (MB|GB|TB)$/) ?? [];
      if (!unit) return [];
      const mib = Number(amount) * { MB: 1, GB: 1024, TB: 1024 * 1024 }[unit as 'MB' | 'GB' | 'TB'];
      return [{ slot: said.get('Locator') ?? '', mib, type: said.get('Type') ?? '' }];
    })
    .slice(0, mostModules);
}

/** What `ipmitool` says over the machine's own bus. */
function controllerOf(text: string): Inventory['bmc'] {
  const said = fieldsOf(text.split('\n'));
  if (!said.has('Device ID')) return null;
  const [firmware, address, mac] = ['Firmware Revision', 'IP Address', 'MAC Address'].map(
    (name) => said.get(name) ?? null,
  );
  return { firmware: firmware ?? null, address: address ?? null, mac: mac ?? null };
}

/** Lines between empty ones. */
function blocksOf(text: string): string[][] {
  const blocks: string[][] = [[]];
  for (const line of text.split('\n')) {
    if (line.trim() === '') blocks.push([]);
    else blocks.at(-1)?.push(line);
  }
  return blocks;
}

/**
 * Of lines like `Name : what it is`, the first of each name. No pattern looks for them: where several of its parts may be the same blanks, it
 * tries them in every order, which a stranger can make take minutes.
 */
function fieldsOf(lines: readonly string[]): Map<string, string> {
  const fields = new Map<string, string>();
  for (const line of lines) {
    const colon = line.indexOf(':');
    const name = line.slice(0, colon).trim();
    const value = line.slice(colon + 1).trim();
    if (colon > 0 && value !== '' && value.length <= 80 && !fields.has(name)) fields.set(name, value);
  }
  return fields;
}

/** Control characters, which would be done to whoever reads them, and halves of characters, which no database keeps. */
function refuseUnreadable(value: unknown): void {
  if (typeof value === 'string' && (/\p{Cc}/u.test(value) || !value.isWellFormed()))
    throw invalid('a text holds control characters');
  if (typeof value === 'object' && value !== null) Object.values(value).forEach(refuseUnreadable);
}
