import { setTimeout as delay } from 'node:timers/promises';
import { HypervisorError, type MachineId } from '../contract.ts';
import { asList, asText } from './client.ts';
import { calling, IncusRefusal } from './failure.ts';
import { type Instance, surePower } from './instances.ts';
import { checkInstanceName, instancePath, notesIn, seedDevice, withNotes } from './machine.ts';
import type { Parts } from './parts.ts';

/** A large disk takes its time over a slow wire. */
const moveMs = 6 * 3_600_000;
const idleMs = 30_000;

/**
 * Has the engine bring an instance that is stopped to another member. What its guest reads its identity from is a volume of the member that it
 * leaves, where the pool is each member's own: it is unplugged before, and another of the same content is plugged in after.
 *
 * One that runs it moves only with `migration.stateful`, with which it starts no machine that has such a volume, nor takes one later.
 */
export async function moveInstance(
  parts: Parts,
  id: MachineId,
  member: string,
  { live }: { live: boolean },
): Promise<void> {
  checkInstanceName(id);
  const { client } = parts;
  // What a process of ours that is gone has begun is waited for, and may have brought it there.
  await client.settled(id, moveMs);
  const there = await mustExist(parts, id);
  if (there.member === member) return plugSeed(parts, id, member);
  await mustTake(parts, id, member);
  if (surePower(there) === 'running') throw live ? notPossible(whyNotLive(id)) : notStopped(id);
  await whenIdle(() => unplugSeed(parts, id));
  const query = { target: member };
  const wanted = { name: id, migration: true, live: false };
  const moving = client.change('POST', instancePath(id), wanted, { query, timeoutMs: moveMs });
  const failure = await calling('disk_failed', moving).then(
    () => new HypervisorError('disk_failed', `${id} did not come to ${member}`),
    (error: unknown) => error,
  );
  // The member that it goes to may be at it still, whatever the other one says of it; then the instance itself tells where it is.
  await client.settled(id, moveMs);
  await whenIdle(() => client.change('PATCH', instancePath(id), { description: '' }));
  const now = await mustExist(parts, id);
  await whenIdle(() => plugSeed(parts, id, now.member));
  if (now.member !== member) throw failure;
}

/** A member that takes an instance is at it for a moment longer than what it said has ended. */
async function whenIdle(work: () => Promise<unknown>): Promise<void> {
  const until = Date.now() + idleMs;
  for (;;) {
    const failure = await work().then(
      () => null,
      (error: unknown) => error,
    );
    if (failure === null) return;
    const isBusy = failure instanceof IncusRefusal || (failure as Error).cause instanceof IncusRefusal;
    if (!isBusy || !/is busy/i.test((failure as Error).message) || Date.now() >= until) throw failure;
    await delay(200);
  }
}

async function mustExist({ instances }: Parts, id: MachineId): Promise<Instance> {
  const found = await instances.find(id);
  if (found !== null) return found;
  throw new HypervisorError('machine_absent', `no machine ${id} in this cluster`, { permanent: true });
}

/** The engine finds out about the other member when all is under way. */
async function mustTake({ client }: Parts, id: MachineId, member: string): Promise<void> {
  const members = asList(await client.read('/1.0/cluster/members', { recursion: '1' }), 'members');
  const found = members.find((each) => each.server_name === member);
  if (found === undefined)
    throw new HypervisorError('spec_invalid', `there is no member ${member} to move ${id} to`, {
      permanent: true,
    });
  const status = asText(found.status, 'the status of a member');
  if (status !== 'Online') throw notPossible(`the member ${member} is ${status.toLowerCase()}`);
}

async function unplugSeed({ instances }: Parts, id: MachineId): Promise<void> {
  const profile = await instances.profile(id);
  if (profile?.devices.seed === undefined) return;
  const { seed: _, ...devices } = profile.devices;
  await instances.writeProfile(id, { ...profile, devices });
}

/** Gives the guest the same to read as before, from a volume that its member has. */
async function plugSeed(
  { instances, seeds, options }: Parts,
  id: MachineId,
  member: string | null,
): Promise<void> {
  const profile = await instances.profile(id);
  if (profile === null) return;
  const notes = notesIn(profile);
  if (notes.seed === null || notes.identity === null) return;
  const isThere = await seeds.isAt(notes.seed, member);
  const secrets = await seeds.secrets(notes.seed);
  const seed = isThere ? notes.seed : await seeds.write(id, member, notes.identity, secrets);
  if (!isThere || profile.devices.seed === undefined) {
    const devices = { ...profile.devices, seed: seedDevice(options, seed) };
    await instances.writeProfile(id, withNotes(id, { ...profile, devices }, { ...notes, seed }));
  }
  await seeds.sweep(id, [seed]);
}

function notPossible(message: string): HypervisorError {
  return new HypervisorError('not_possible', message, { permanent: true });
}

function notStopped(id: MachineId): HypervisorError {
  return new HypervisorError('not_stopped', `${id} must be stopped for this`, { permanent: true });
}

function whyNotLive(id: MachineId): string {
  return `${id} runs, and Incus moves no machine that runs and reads its identity from a volume of its member's own`;
}
