import { HypervisorError, type MachineId } from '../contract.ts';
import type { ClusterFacts } from './cluster.ts';
import { calling, ProxmoxRefusal } from './failure.ts';
import { machinePath } from './listed.ts';
import { checkName, differing, drive, driveWith, notesIn } from './machine.ts';
import type { Machine } from './machines.ts';
import type { Parts } from './parts.ts';

/** A large disk takes its time over a slow wire. */
const moveMs = 6 * 3_600_000;

interface Moving extends Parts {
  cluster: ClusterFacts;
  /** The disc that a machine is to start with, on the node that has it. */
  discFor(machine: Machine): Promise<string | null>;
}

/**
 * Has the engine bring a machine to another node, its disks with it. The disc that its guest reads is a file of the node that it leaves, with
 * which the engine moves nothing: the drive is empty on the way, and has one of the same content after.
 */
export async function moveMachine(
  parts: Moving,
  id: MachineId,
  node: string,
  { live }: { live: boolean },
): Promise<void> {
  checkName(id);
  const { client, machines } = parts;
  const found = await machines.must(id);
  // What a process of ours that is gone has begun is waited for, and may have brought it there.
  await client.settled(found.node, found.vmid);
  const before = await machines.must(id);
  if (before.node === node) return plugDisc(parts, before);
  await mustTake(parts, id, node);
  const { run } = await machines.live(before);
  if (run !== null && !live)
    throw new HypervisorError('not_stopped', `${id} must be stopped for this`, { permanent: true });
  // Afterwards it would be too late to find that its disc cannot be written again.
  if (notesIn(before.config).seed !== null) parts.secretsOf(before);
  if (before.config[drive] !== undefined)
    await calling('disk_failed', machines.write(before, { [drive]: 'none,media=cdrom' }));
  const wanted = { target: node, 'with-local-disks': true, ...(run === null ? {} : { online: true }) };
  const failure = await client.run('POST', `${machinePath(before)}/migrate`, wanted, moveMs).then(
    () => new HypervisorError('disk_failed', `${id} did not come to ${node}`),
    (error: unknown) => error,
  );
  const after = await machines.must(id);
  await plugDisc(parts, after);
  if (after.node !== node) throw refusal(failure, run !== null);
  await parts.seeds.sweep(id, before.node, discsOf(await machines.must(id)));
  // It is the same run in another process, which the engine counts from its own beginning.
  const { run: now } = await machines.live(after);
  if (run !== null && now !== null)
    await machines.noteRun(after, { ...now, startedAt: run.startedAt }).catch(() => undefined);
}

async function mustTake({ cluster }: Moving, id: MachineId, node: string): Promise<void> {
  const found = (await cluster.overview()).nodes.find(({ name }) => name === node);
  if (found === undefined)
    throw new HypervisorError('spec_invalid', `there is no node ${node} to move ${id} to`, {
      permanent: true,
    });
  if (!found.answers) throw notPossible(`the node ${node} does not answer`);
}

/** Gives the guest the same to read as before, from a file that its node has. */
async function plugDisc({ machines, options, discFor }: Moving, machine: Machine): Promise<void> {
  const disc = await discFor(machine);
  if (disc === null) return;
  const now = await machines.must(machine.id);
  await machines.write(now, differing(now.config, { [drive]: driveWith(options, disc) }));
}

function discsOf({ config }: Machine): string[] {
  const { seed } = notesIn(config);
  return seed === null ? [] : [seed];
}

/** One that runs and that the engine does not move is one that it cannot move: it says why. */
function refusal(failure: unknown, isRunning: boolean): unknown {
  if (!(failure instanceof ProxmoxRefusal) || failure.isOfSilentNode) return failure;
  if (isRunning) return notPossible(failure.message, failure);
  return new HypervisorError('disk_failed', failure.message, { cause: failure });
}

function notPossible(message: string, cause?: unknown): HypervisorError {
  return new HypervisorError('not_possible', message, { permanent: true, cause });
}
