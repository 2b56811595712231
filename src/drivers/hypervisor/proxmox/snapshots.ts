import { createHash } from 'node:crypto';
import { HypervisorError, type MachineId } from '../contract.ts';
import type { SnapshotFacts } from '../management.ts';
import { answers } from './agent.ts';
import { asList, asNumber, asRecord, asText } from './answers.ts';
import { growDisk } from './create.ts';
import { calling } from './failure.ts';
import { machinePath } from './listed.ts';
import { type Config, diskBytes } from './machine.ts';
import type { Machine } from './machines.ts';
import type { Parts } from './parts.ts';

export interface Snapshots {
  create(id: MachineId, name: string): Promise<SnapshotFacts>;
  restore(id: MachineId, name: string): Promise<void>;
  delete(id: MachineId, name: string): Promise<void>;
  list(id: MachineId): Promise<SnapshotFacts[]>;
  /** Takes all of a machine's away, also those that somebody made by hand, the newest first. */
  deleteAll(machine: Machine): Promise<void>;
}

/** Names of ours are longer and freer than those there, so each has one made of it and stands beside in words. */
const mark = 'Innkeeper: ';

function nameThere(name: string): string {
  return `i${createHash('sha256').update(name).digest('hex').slice(0, 24)}`;
}

/** Snapshots are the engine's own. Which storages can do what, it says itself. */
export function machineSnapshots(parts: Parts): Snapshots {
  const { client, machines } = parts;
  const folder = (machine: Machine) => `${machinePath(machine)}/snapshot`;

  async function all(machine: Machine): Promise<Record<string, unknown>[]> {
    const found = asList(await machines.read(machine, 'snapshot'), 'snapshots').filter(
      ({ name }) => name !== 'current',
    );
    return found.sort((one, other) => Number(one.snaptime ?? 0) - Number(other.snaptime ?? 0));
  }

  async function factsOf(machine: Machine, each: Record<string, unknown>): Promise<SnapshotFacts[]> {
    const description = typeof each.description === 'string' ? each.description.trim() : '';
    // One that is being made, or was not made to its end, has its state among its settings.
    if (!description.startsWith(mark)) return [];
    const snapshot = asText(each.name, 'the name of a snapshot');
    const config = asRecord(await machines.read(machine, 'config', { snapshot }), 'settings');
    if (config.snapstate !== undefined) return [];
    const seconds = asNumber(each.snaptime, 'the time of a snapshot');
    return [
      {
        name: description.slice(mark.length),
        sizeBytes: diskBytes(config as Config) ?? 0,
        createdAt: new Date(seconds * 1_000),
      },
    ];
  }

  async function listOf(machine: Machine): Promise<SnapshotFacts[]> {
    return (await Promise.all((await all(machine)).map((each) => factsOf(machine, each)))).flat();
  }

  async function find(machine: Machine, name: string): Promise<SnapshotFacts | null> {
    return (await listOf(machine)).find((each) => each.name === name) ?? null;
  }

  async function drop(machine: Machine, name: string): Promise<void> {
    const failure = await client.run('DELETE', `${folder(machine)}/${name}`).catch((error: unknown) => error);
    if (!failure || !(await all(machine)).some((each) => each.name === name)) return;
    await calling('snapshot_failed', Promise.reject(failure));
  }

  return {
    async create(id, name) {
      const machine = await machines.must(id);
      await client.settled(machine.node, machine.vmid);
      const there = await find(machine, name);
      if (there) return there;
      // What is left of one that was not made to its end.
      if ((await all(machine)).some((each) => each.name === nameThere(name)))
        await drop(machine, nameThere(name));
      // The engine asks the guest to settle when its agent answers, and says nowhere whether it did.
      const isSettled = !(await machines.isRunning(machine)) || (await answers(client, machine));
      const wanted = { snapname: nameThere(name), description: `${mark}${name}` };
      const failure = await client.run('POST', folder(machine), wanted).catch((error: unknown) => error);
      const made = await find(machine, name);
      if (made) return isSettled ? made : { ...made, consistent: false };
      if (failure) await calling('snapshot_failed', Promise.reject(failure));
      throw new HypervisorError('snapshot_failed', `the snapshot ${name} of ${id} did not come to be`);
    },
    async restore(id, name) {
      const machine = await parts.mustBeOff(id);
      if (!(await find(machine, name)))
        throw new HypervisorError('snapshot_absent', `${id} has no ${name}`, { permanent: true });
      await client.settled(machine.node, machine.vmid);
      const before = diskBytes(machine.config) ?? 0;
      const back = client.run('POST', `${folder(machine)}/${nameThere(name)}/rollback`);
      await calling('snapshot_failed', back);
      // All its settings came back with it, except for our notes; `start` writes those that count, and the room is given back now.
      await growDisk(parts, await machines.must(id), Math.floor(before / 2 ** 30));
    },
    async delete(id, name) {
      const machine = await machines.must(id);
      await client.settled(machine.node, machine.vmid);
      if ((await all(machine)).some((each) => each.name === nameThere(name)))
        await drop(machine, nameThere(name));
    },
    list: async (id) => listOf(await machines.must(id)),
    async deleteAll(machine) {
      for (const each of (await all(machine)).reverse())
        await drop(machine, asText(each.name, 'the name of a snapshot'));
    },
  };
}
