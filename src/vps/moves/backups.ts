import { statement, transaction } from '../../platform/index.ts';
import { findMachine, machineIdOf, specOf } from '../machine.ts';
import { lockVps } from '../queries.ts';
import { holdCopies, noteKeptOn } from '../snapshots/rows.ts';
import type { IntoClusterRun, Parts } from './carrying.ts';
import { openMove } from './rows.ts';
import { never, stated } from './turn.ts';

const backupsToCarry = statement<{ name: string }, { serviceId: number }>(
  'vps.backupsToCarry',
  `select name from vps_snapshots where service_id = :serviceId and kind = 'backup' and state = 'ready' order by created_at, name`,
);
const forgetBackups = statement<never, { serviceId: number }>(
  'vps.forgetBackups',
  `delete from vps_snapshots where service_id = :serviceId and kind = 'backup'`,
);

/** What backups are made of on their way. */
export function passingOf({ payload, state }: IntoClusterRun): string {
  return machineIdOf(payload.serviceId, stated(state.incarnation) + 1);
}

const keepsNone = 'the cluster keeps no backups, and nobody has said that those of the machine may be lost';

/**
 * Has the backups that lie on the machine's own host kept by the cluster, oldest first: of each a machine is made that nobody starts, which is
 * kept as the backup and goes again. Where the engine keeps none, the machine has none any more.
 */
export async function carryBackups(run: IntoClusterRun, parts: Parts): Promise<void> {
  const { driver, cluster, member } = parts;
  const { serviceId } = run.payload;
  if (!cluster.capabilities.includes('backups')) {
    // It could keep them when staff was asked.
    const move = await run.ctx.db.maybe(openMove, { id: run.payload.actionId });
    const kept = await run.ctx.db.many(backupsToCarry, { serviceId });
    if (kept.length > 0 && move?.drops_copies !== true) throw never('conflict', keepsNone);
    await transaction(run.ctx, 'vps.forgetBackups', async (tx) => {
      await lockVps(tx, serviceId);
      await tx.db.run(forgetBackups, { serviceId });
      await holdCopies(tx, serviceId);
    });
    return;
  }
  const [there, old, anew] = [cluster.on(member), stated(run.state.old), stated(run.state.anew)];
  const machine = await findMachine(run.ctx, serviceId);
  if (machine === null) return;
  const passing = passingOf(run);
  for (const { name } of await run.ctx.db.many(backupsToCarry, { serviceId })) {
    const known = (await there.listBackups(anew)).find((each) => each.name === name);
    if (known === undefined) {
      await there.destroy(passing); // what an attempt before has left
      const spec = { ...(await specOf(run.ctx, machine)), id: passing };
      await cluster.importMachine(spec, member, await driver.openBackup(old, name));
      await there.createBackup(passing, name);
      await cluster.handOver(passing, anew);
    }
    const { node } = known ?? (await there.listBackups(anew)).find((each) => each.name === name) ?? {};
    if (node !== undefined) await run.ctx.db.run(noteKeptOn, { serviceId, name, member: node });
  }
  await there.destroy(passing);
}
