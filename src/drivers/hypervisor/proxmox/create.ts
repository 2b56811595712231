import { HypervisorError, type MachineSpec } from '../contract.ts';
import type { ProxmoxClient } from './client.ts';
import type { ClusterFacts, Overview } from './cluster.ts';
import { calling } from './failure.ts';
import type { ClusterImages, NodeImage } from './images.ts';
import { machinePath } from './listed.ts';
import { disk, diskBytes, madeWith, type Notes, noted, notesIn } from './machine.ts';
import type { Machine, Machines } from './machines.ts';
import { freeNumber } from './numbers.ts';
import type { ProxmoxOptions } from './options.ts';

export interface Making {
  options: ProxmoxOptions;
  client: ProxmoxClient;
  cluster: ClusterFacts;
  images: ClusterImages;
  machines: Machines;
}

/** Somebody else may take the number that we found free. */
const mostTries = 8;
const gib = 2 ** 30;

/**
 * Makes a machine, and then its disk: from the first moment on it carries our marks, so one that was made by half is found again. A disk
 * stands among the settings once all of it is there, never before. It is made on this node; null: on that with the most memory free.
 */
export async function makeMachine(making: Making, spec: MachineSpec, node: string | null): Promise<void> {
  const { client, images, machines } = making;
  let machine = await machines.find(spec.id);
  if (machine) await client.settled(machine.node, machine.vmid);
  machine = (machine && (await machines.find(spec.id))) ?? (await made(making, spec, node));
  if (diskBytes(machine.config) === null) {
    const image = await images.find(machine.node, spec.image);
    await importDisk(making, machine, image, machine.config.digest).catch(async (error: unknown) => {
      // Another process may have been faster.
      if (diskBytes((await machines.must(spec.id)).config) === null) throw error;
    });
  }
  await growDisk(making, await machines.must(spec.id), spec.diskGib);
}

/** Finds the machine, or makes it without a disk. */
export async function made(making: Making, spec: MachineSpec, wanted: string | null): Promise<Machine> {
  const { options, client, cluster, machines } = making;
  const notes: Notes = { image: spec.image, identity: null, seed: null, secrets: null };
  for (let tries = 1; ; tries += 1) {
    const overview = await cluster.overview();
    // What is taken and what is this one has to be seen at the same moment.
    const there = await machines.findIn(overview, spec.id);
    if (there) return there;
    const node = await nodeFor(making, overview, spec.image, wanted);
    const { vmid, hidden } = await freeNumber(options, client, overview, spec.id);
    // One that is just being made shows neither its name nor whose it is: it may be this one, by a call whose answer was lost.
    for (const each of hidden)
      for (const { name, answers } of overview.nodes)
        if (answers) await client.settled(name, each, 'qmcreate');
    const madeMeanwhile = hidden.length > 0 ? await machines.find(spec.id) : null;
    if (madeMeanwhile) return madeMeanwhile;
    const creating = client.run('POST', `/nodes/${node}/qemu`, madeWith(options, spec, vmid, notes));
    const failure = await calling('disk_failed', creating).then(
      () => new HypervisorError('disk_failed', `${spec.id} did not come to be`),
      (error: unknown) => error,
    );
    const found = await machines.find(spec.id);
    if (found) return found;
    const isTaken = failure instanceof Error && /already exists/.test(failure.message);
    if (!isTaken || tries === mostTries) throw failure;
  }
}

/** Of the nodes that have the image that which has the most memory free, unless one is asked for. */
async function nodeFor(
  { images }: Making,
  { nodes }: Overview,
  image: string,
  wanted: string | null,
): Promise<string> {
  const able = nodes.filter(({ name, answers }) => answers && (wanted ?? name) === name);
  const free = (node: (typeof able)[number]) => node.memoryBytes - node.memoryUsedBytes;
  let failure: unknown = new HypervisorError('host_not_ready', 'no node of the cluster answers');
  for (const { name } of able.sort((one, other) => free(other) - free(one))) {
    const there = await images.find(name, image).catch((error: unknown) => {
      failure = error;
      return null;
    });
    if (there) return name;
  }
  throw failure;
}

/** Makes the machine's disk from an image; one that it has already becomes an unused one. With a `digest`, refused when its settings are others by now. */
export async function importDisk(
  { options, client }: Pick<Making, 'options' | 'client'>,
  machine: Machine,
  image: NodeImage,
  digest?: string,
): Promise<void> {
  const source = `${options.storage}:0,import-from=${image.volume},discard=on`;
  const settings = { [disk]: source, boot: `order=${disk}`, ...(digest === undefined ? {} : { digest }) };
  await calling('disk_failed', client.run('POST', `${machinePath(machine)}/config`, settings));
}

/** Lets a disk be at least so large; it is never made smaller. */
export async function growDisk(
  { client, machines }: Pick<Making, 'client' | 'machines'>,
  machine: Machine,
  diskGib: number,
): Promise<void> {
  const now = diskBytes(machine.config);
  if (now === null || now >= diskGib * gib) return;
  const growing = client.run('PUT', `${machinePath(machine)}/resize`, { disk, size: `${diskGib}G` });
  await calling('disk_failed', growing).catch(async (error: unknown) => {
    const after = diskBytes((await machines.must(machine.id)).config);
    if (after === null || after < diskGib * gib) throw error;
  });
}

/** Writes notes, and with them other settings. */
export async function writeNotes(
  { client }: Pick<Making, 'client'>,
  machine: Machine,
  change: Partial<Notes>,
  settings: Record<string, string> = {},
): Promise<void> {
  const description = noted({ ...notesIn(machine.config), ...change });
  const changing = client.change('PUT', `${machinePath(machine)}/config`, { description, ...settings });
  await calling('disk_failed', changing);
}
