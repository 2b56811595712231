import { HypervisorError, type MachineId, type MachineSpec, type NicAddress } from '../contract.ts';
import type { ImageDescription } from '../images/recipe.ts';
import type { PublicIdentity } from '../qemu/seed.ts';
import { checkMachineId } from '../spec.ts';
import { asJson, asRecord, asTexts } from './client.ts';
import type { IncusOptions } from './options.ts';

/**
 * All that a machine should be stands in a profile of its own, and its instance holds nothing but its disk: snapshots keep an
 * instance's settings and bring them back, and never a profile's. So a disk that is restored keeps the size, the addresses
 * and the seed that its machine has now.
 */
export interface Profile {
  config: Record<string, string>;
  devices: Record<string, Record<string, string>>;
}

/** What we note in a profile for ourselves. */
const own = {
  machine: 'user.innkeeper.machine',
  image: 'user.innkeeper.image',
  /** The disk was made to its end. */
  whole: 'user.innkeeper.whole',
  identity: 'user.innkeeper.identity',
  seed: 'user.innkeeper.seed',
} as const;

const prefix = 'machine-';

/** The engine takes names of hosts, which are a little less than our ids. */
export function checkInstanceName(id: MachineId): void {
  checkMachineId(id);
  if (/^\d+$|-$/.test(id))
    throw new HypervisorError('spec_invalid', `not a name that Incus takes: ${JSON.stringify(id)}`, {
      permanent: true,
    });
}

export function instancePath(id: MachineId): string {
  return `/1.0/instances/${id}`;
}

export function profileName(id: MachineId): string {
  return `${prefix}${id}`;
}

/** The machine that a profile is of; null when it is of none. */
export function machineOf(name: unknown, config: unknown): MachineId | null {
  if (typeof name !== 'string' || !name.startsWith(prefix)) return null;
  const id = name.slice(prefix.length);
  return asTexts(config, 'the settings of a profile')[own.machine] === id ? id : null;
}

export function profileFrom(answer: unknown): Profile {
  const { config, devices } = asRecord(answer, 'a profile');
  const each = Object.entries(asRecord(devices ?? {}, 'devices of a profile'));
  return {
    config: asTexts(config, 'the settings of a profile'),
    devices: Object.fromEntries(each.map(([name, device]) => [name, asTexts(device, 'a device')])),
  };
}

/** What we noted in a machine's profile. */
export interface Notes {
  image: string;
  isWhole: boolean;
  /** Null before `writeIdentity`. */
  identity: PublicIdentity | null;
  /** Name of the volume that its guest reads its identity from. */
  seed: string | null;
}

export function notesIn({ config }: Profile): Notes {
  const identity = config[own.identity];
  return {
    image: config[own.image] ?? '',
    isWhole: config[own.whole] === 'yes',
    identity:
      identity === undefined ? null : (asJson(identity, 'a machine’s identity') as PublicIdentity | null),
    seed: config[own.seed] ?? null,
  };
}

function noted(id: MachineId, { image, isWhole, identity, seed }: Notes): Record<string, string> {
  return {
    [own.machine]: id,
    [own.image]: image,
    ...(isWhole ? { [own.whole]: 'yes' } : {}),
    ...(identity === null ? {} : { [own.identity]: JSON.stringify(identity) }),
    ...(seed === null ? {} : { [own.seed]: seed }),
  };
}

/** The same profile with other notes. */
export function withNotes(id: MachineId, profile: Profile, notes: Notes): Profile {
  const others = Object.entries(profile.config).filter(([key]) => !key.startsWith('user.innkeeper.'));
  return { ...profile, config: { ...Object.fromEntries(others), ...noted(id, notes) } };
}

/** The whole profile of a machine that is to be made or started. */
export function profileOf(
  options: IncusOptions,
  spec: MachineSpec,
  image: ImageDescription,
  notes: Notes,
): Profile {
  return {
    config: {
      'limits.cpu': String(spec.cpuCores),
      'limits.memory': `${spec.memoryMib}MiB`,
      'security.secureboot': 'false',
      // What runs in a guest is its owner's: it would say itself what it sent, and be waited for whenever machines are listed.
      'security.agent.metrics': 'false',
      // Whether it is to run after its host has started is our reconciler's to say.
      'boot.autostart': 'false',
      ...(image.boot === null ? {} : options.directBoot?.(image)),
      ...noted(spec.id, notes),
    },
    devices: {
      root: {
        type: 'disk',
        path: '/',
        pool: options.pool,
        size: `${spec.diskGib}GiB`,
        'io.bus': 'virtio-blk',
        'boot.priority': '10',
      },
      eth0: nicOf(options, spec),
      ...(notes.seed === null ? {} : { seed: seedDevice(options, notes.seed) }),
    },
  };
}

/** A disc: on the bus that it has by default, it is exchanged while the machine runs. */
export function seedDevice({ pool }: IncusOptions, source: string): Record<string, string> {
  return { type: 'disk', pool, source };
}

/** The engine's filters want one address of each family, and take all others as routes. */
export function nicOf(
  { bridge, policesEgress }: IncusOptions,
  { nic }: Pick<MachineSpec, 'nic'>,
): Record<string, string> {
  const addresses = (family: 4 | 6, bits: number) => {
    const [first, ...more] = nic.addresses.filter((each: NicAddress) => each.family === family);
    const routes = more.map(({ address }) => `${address}/${bits}`);
    return {
      [`security.ipv${family}_filtering`]: 'true',
      [`ipv${family}.address`]: first?.address ?? 'none',
      ...(routes.length > 0 ? { [`ipv${family}.routes`]: routes.join(',') } : {}),
    };
  };
  return {
    type: 'nic',
    nictype: 'bridged',
    parent: bridge,
    name: 'eth0',
    hwaddr: nic.mac,
    'security.mac_filtering': 'true',
    ...addresses(4, 32),
    ...addresses(6, 128),
    'limits.ingress': `${nic.portMbps}Mbit`,
    ...(policesEgress === false ? {} : { 'limits.egress': `${nic.portMbps}Mbit` }),
  };
}

/** How large a machine's disk is to be. */
export function bytesOfRoot({ devices }: Profile): number {
  const [, gib] = /^(\d+)GiB$/.exec(devices.root?.size ?? '') ?? [];
  return Number(gib ?? 0) * 2 ** 30;
}
