import type { Cluster, MachineReport } from '../../drivers/hypervisor/index.ts';
import { record } from '../../events/index.ts';
import { type Context, causesOf, transaction } from '../../platform/index.ts';
import { leftOverStopped } from '../events.ts';
import { machineIdOf } from '../machine.ts';
import { leftOvers } from './rows.ts';

/**
 * Takes the power of machines that were made anew elsewhere and run on a member that is back: as after a partition, in which they never stopped.
 * They are never started there; their disks stay, since they may hold what no backup has, and staff finds them among the unknown machines.
 * Only where it is known which lives: that of the database has to be in the cluster as well. Else what runs may be all that there is.
 */
export async function stopLeftOvers(
  ctx: Context,
  cluster: Pick<Cluster, 'on'>,
  all: readonly MachineReport[],
): Promise<void> {
  const running = new Map(
    all.flatMap(({ id, power, node }) => (power === 'running' && node !== undefined ? [[id, node]] : [])),
  );
  if (running.size === 0) return;
  const there = new Set(all.flatMap(({ id, power }) => (power === 'absent' ? [] : [id])));
  for (const { machine, service_id, organization_id, incarnation } of await ctx.db.many(leftOvers, {
    machines: [...running.keys()],
  })) {
    const lives = machineIdOf(service_id, incarnation);
    if (lives === machine || !there.has(lives)) continue;
    const member = running.get(machine) ?? '';
    await stop(ctx, cluster, {
      machine,
      member,
      serviceId: service_id,
      organizationId: organization_id,
    }).catch((error: Error) =>
      ctx.log.error({ machine, err: causesOf(error) }, 'a machine that was made anew elsewhere still runs'),
    );
  }
}

async function stop(
  ctx: Context,
  cluster: Pick<Cluster, 'on'>,
  left: { machine: string; member: string; serviceId: number; organizationId: number },
): Promise<void> {
  const { machine, member, serviceId, organizationId } = left;
  await cluster.on(member).powerOff(machine);
  ctx.log.warn({ machine, member }, 'a machine that was made anew elsewhere ran on, and was switched off');
  await transaction(ctx, 'vps.leftOverStopped', (tx) =>
    record(tx, leftOverStopped, {
      ...{ subject: { type: 'service', id: serviceId }, organizationId },
      data: { machine, member },
    }),
  );
}
