import { HypervisorError, type MachineId, type MachineSpec } from '../contract.ts';
import type { PublicIdentity } from '../qemu/seed.ts';
import { checkMachineId } from '../spec.ts';
import type { Parameters } from './client.ts';
import type { ProxmoxOptions } from './options.ts';
import { packed, unpacked } from './packed.ts';

/** Settings of a machine by their names there. */
export type Config = Record<string, string>;

/** What says that a machine is ours, and which. The nodes tell one another tags at once, and names after ten seconds. */
const ours = 'innkeeper';
const machinePrefix = 'machine-';
const runPrefix = 'run-';
/** The device that a machine's disk is, and the drive that it reads who it is from. */
export const disk = 'scsi0';
export const drive = 'ide2';

/** The engine takes names of hosts, which are a little less than our ids. */
export function checkName(id: MachineId): void {
  checkMachineId(id);
  if (id.endsWith('-'))
    throw new HypervisorError('spec_invalid', `not a name that Proxmox VE takes: ${JSON.stringify(id)}`, {
      permanent: true,
    });
}

/** The start of a machine that is noted at it: the engine tells a start to the second only, and another each time it is asked. */
export interface Run {
  pid: number;
  startedAt: Date;
}

export function tagsOf(id: MachineId, run: Run | null): string {
  const noted = run === null ? [] : [`${runPrefix}${run.pid}-${Math.round(run.startedAt.getTime() / 1_000)}`];
  return [ours, `${machinePrefix}${id}`, ...noted].join(';');
}

/** The machine of ours that tags say something is of; null when of none. */
export function idInTags(tags: unknown): MachineId | null {
  const all = splitTags(tags);
  const id = all.find((each) => each.startsWith(machinePrefix))?.slice(machinePrefix.length);
  return all.includes(ours) && id !== undefined && /^[a-z0-9][a-z0-9-]{0,39}$/.test(id) ? id : null;
}

export function runInTags(tags: unknown): Run | null {
  for (const each of splitTags(tags)) {
    const [, pid, seconds] = /^run-(\d{1,10})-(\d{1,12})$/.exec(each) ?? [];
    if (pid !== undefined) return { pid: Number(pid), startedAt: new Date(Number(seconds) * 1_000) };
  }
  return null;
}

function splitTags(tags: unknown): string[] {
  return typeof tags === 'string' ? tags.split(/[;, ]+/).filter(Boolean) : [];
}

/** What we note at a machine, where whoever looks at it finds it as well. */
export interface Notes {
  image: string;
  /** Null before `writeIdentity`. */
  identity: PublicIdentity | null;
  /** Name of the disc that its guest reads its identity from. */
  seed: string | null;
  /** What that disc holds of secrets, sealed; null when nothing, or more than there is room for here. */
  secrets: string | null;
}

const noteLine = 'Innkeeper keeps its notes of this machine here. What is changed by hand is lost.';
const mostNotes = 8_192;

export function notesIn(config: Config): Notes {
  const none = { image: '', identity: null, seed: null, secrets: null };
  const line = (config.description ?? '').split('\n').find((each) => each.startsWith('innkeeper:'));
  if (line === undefined) return none;
  try {
    return { ...none, ...(unpacked(line.slice('innkeeper:'.length)) as Partial<Notes>) };
  } catch (cause) {
    const message = `our notes at ${config.name} were changed by hand and cannot be read`;
    throw new HypervisorError('host_not_ready', message, { cause });
  }
}

/** Notes as they stand at the machine. Secrets that there is no room for are left out. */
export function noted(notes: Notes): string {
  const write = (each: Notes) => `${noteLine}\ninnkeeper:${packed(each)}`;
  const whole = write(notes);
  const text = whole.length > mostNotes ? write({ ...notes, secrets: null }) : whole;
  if (text.length <= mostNotes) return text;
  throw new HypervisorError('spec_invalid', 'the machine has more addresses than can be noted at it', {
    permanent: true,
  });
}

/** Settings that a machine is made with once. */
export function madeWith(options: ProxmoxOptions, spec: MachineSpec, vmid: number, notes: Notes): Parameters {
  return {
    ...{ vmid, name: spec.id, pool: options.pool, tags: tagsOf(spec.id, null), description: noted(notes) },
    ...{ ostype: 'l26', scsihw: 'virtio-scsi-single', serial0: 'socket', agent: 'enabled=1' },
    // Whether it is to run after its host has started is our reconciler's to say.
    onboot: false,
    ...settingsOf(options, spec),
  };
}

/** Settings that follow from what a machine is to be. */
export function settingsOf(options: ProxmoxOptions, spec: MachineSpec): Config {
  const { cpuCores, memoryMib, nic } = spec;
  const card = {
    virtio: nic.mac.toUpperCase(),
    bridge: options.bridge,
    firewall: '1',
    rate: String(nic.portMbps / 8), // megabytes
  };
  const net0 = Object.entries(card).map(([name, value]) => `${name}=${value}`);
  return { cores: String(cpuCores), memory: String(memoryMib), net0: net0.join(',') };
}

/** The drive with a disc in it. */
export function driveWith(options: ProxmoxOptions, seed: string): string {
  return `${options.files}:iso/${seed},media=cdrom`;
}

/** How large a machine's disk is, in bytes; null when it has none. */
export function diskBytes(config: Config): number | null {
  const line = config[disk];
  if (line === undefined) return null;
  const [, number, unit = ''] = /(?:^|,)size=(\d+(?:\.\d+)?)([KMGT]?)(?:,|$)/.exec(line) ?? [];
  const factor = { '': 1, K: 2 ** 10, M: 2 ** 20, G: 2 ** 30, T: 2 ** 40 }[unit] ?? 1;
  return Number(number ?? 0) * factor;
}

/** Of `wanted` what is not so. A drive and a card are the same when all is that was asked for, in any order and case. */
export function differing(config: Config, wanted: Config): Config {
  const parts = (text: string) => text.toLowerCase().split(',');
  const isSame = (now: string | undefined, then: string) =>
    now !== undefined && parts(then).every((each) => parts(now).includes(each));
  return Object.fromEntries(Object.entries(wanted).filter(([name, value]) => !isSame(config[name], value)));
}
