import { record } from '../events/index.ts';
import {
  aheadMs,
  type Context,
  type Failure,
  statement,
  type TxContext,
  transaction,
} from '../platform/index.ts';
import type { ActionPayload } from './actions/job.ts';
import { nodeFailing, nodeWell } from './events.ts';
import { notCompared } from './incarnations.ts';
import { setMachineState } from './machine.ts';

const firstPauseS = 10;
const longestPauseS = 600;

const failOnHost = statement<
  { node_id: number },
  { serviceId: number; now: Date; firstPauseS: number; longestPauseS: number }
>(
  'vps.failOnHost',
  `update machines set state = 'error', host_failures = host_failures + 1,
     retry_at = :now::timestamptz + make_interval(
       secs => least(:longestPauseS::int, :firstPauseS::int * 2 ^ least(host_failures, 20)))
   where service_id = :serviceId returning node_id`,
);
const retryWhenBack = statement<never, { serviceId: number; now: Date }>(
  'vps.retryWhenBack',
  'update machines set retry_at = :now where service_id = :serviceId',
);
const forgetRetry = statement<never, { serviceId: number }>(
  'vps.forgetRetry',
  'update machines set retry_at = null where service_id = :serviceId',
);
const insertAlarm = statement<never, { nodeId: number; reason: string; now: Date }>(
  'vps.insertNodeAlarm',
  `insert into vps_node_alarms (node_id, reason, since) values (:nodeId, :reason, :now)
   on conflict (node_id) do nothing`,
);
const isOver = `node_id = :nodeId and not exists (select 1 from machines where node_id = :nodeId and retry_at is not null)`;
const alarmOver = statement<{ node_id: number }, { nodeId: number }>(
  'vps.nodeAlarmOver',
  `select node_id from vps_node_alarms where ${isOver}`,
);
const deleteAlarm = statement<never, { nodeId: number }>(
  'vps.deleteNodeAlarm',
  `delete from vps_node_alarms where ${isOver}`,
);

/** Whether a machine that its node has failed is to be tried again. A pause that would last longer than any is none. */
export function isDue(retryAt: Date | null, now: Date): boolean {
  if (retryAt === null) return false;
  const pauseMs = retryAt.getTime() - now.getTime();
  return pauseMs <= 0 || pauseMs > longestPauseS * 1_000 + aheadMs;
}

/**
 * After the start of a machine that was down has failed. One that started and died is counted when it is found down
 * again; what its node could not do says nothing about the machine, and is tried again later and later. One that waits for what a cluster says
 * after a restore is the comparison's, which starts it once that is known.
 */
export async function afterFailedRepair(
  tx: TxContext,
  { serviceId, before }: ActionPayload,
  { code, message }: Failure,
): Promise<void> {
  if (code === notCompared) {
    await setMachineState(tx, serviceId, 'error');
    await tx.db.run(retryWhenBack, { serviceId, now: tx.clock.now() });
    return;
  }
  if (code !== 'machine_died') {
    const pauses = { firstPauseS, longestPauseS };
    const { node_id } = await tx.db.one(failOnHost, { serviceId, now: tx.clock.now(), ...pauses });
    return alarm(tx, node_id, message);
  }
  await tx.db.run(forgetRetry, { serviceId });
  if (before.state === 'error') await setMachineState(tx, serviceId, 'running');
}

/** A machine that is gone from its node, as when a disk is mounted late: it goes on when it is there again. */
export async function waitForReturn(
  tx: TxContext,
  machine: { service_id: number; node_id: number },
  reason: string,
): Promise<void> {
  await tx.db.run(retryWhenBack, { serviceId: machine.service_id, now: tx.clock.now() });
  await alarm(tx, machine.node_id, reason);
}

/** Tells of a node that fails its machines, once for all of them. */
async function alarm(tx: TxContext, nodeId: number, reason: string): Promise<void> {
  if ((await tx.db.run(insertAlarm, { nodeId, reason, now: tx.clock.now() })) === 0) return;
  tx.log.error({ node: nodeId, reason }, 'a node fails its machines');
  await record(tx, nodeFailing, { subject: { type: 'node', id: nodeId }, data: { reason } });
}

/** Takes the alarm of a node back once none of its machines waits for it any more. */
export async function endAlarm(ctx: Context, nodeId: number): Promise<void> {
  // It is asked every few seconds, and hardly ever so: then nothing is begun.
  if ((await ctx.db.maybe(alarmOver, { nodeId })) === null) return;
  await transaction(ctx, 'vps.endAlarm', async (tx) => {
    if ((await tx.db.run(deleteAlarm, { nodeId })) === 0) return;
    await record(tx, nodeWell, { subject: { type: 'node', id: nodeId }, data: {} });
  });
}
