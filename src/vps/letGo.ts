import { jobDismissed } from '../attention/index.ts';
import { restoreReleased } from '../billing/index.ts';
import { on } from '../events/index.ts';
import { type Failure, isJobUnfinishedAbout, type Reaction, type TxContext } from '../platform/index.ts';
import { seenToOtherwise } from './incarnations.ts';
import { letGoOfMove } from './moves/intoCluster.ts';
import { goOnWithAll, intoClusterJob, moveJob } from './moves/next.ts';
import { movesUnderWay } from './moves/rows.ts';
import { openRecoveries } from './recovery/rows.ts';
import { letGoOfRecovery, recoverJob } from './recovery/saga.ts';

const keepTheirLock: ReadonlySet<string> = new Set([moveJob.name, intoClusterJob.name, recoverJob.name]);

/** A stuck job that brings a machine elsewhere keeps its lock until it is retried; where staff has seen to it by other means it lets go. */
export const letGoReactions: Reaction[] = [
  on(restoreReleased, 'vps.goOnWithMoves', (tx) => goOnWithAll(tx)),
  on(jobDismissed, 'vps.letGoOfDismissed', (tx) => letGo(tx), {
    when: ({ name }) => keepTheirLock.has(name),
  }),
];

async function letGo(tx: TxContext): Promise<void> {
  const failure: Failure = {
    ...{ step: 'stuck', code: seenToOtherwise },
    message: 'Staff has seen to it by other means',
  };
  for (const each of await tx.db.many(movesUnderWay)) {
    const { id: actionId, service_id: serviceId, organization_id: organizationId } = each;
    const job = each.goes_into_cluster ? intoClusterJob : moveJob;
    if (await isJobUnfinishedAbout(tx, job, { actionId })) continue;
    await letGoOfMove(tx, { serviceId, organizationId, actionId }, failure);
  }
  for (const { id: actionId, service_id: serviceId, organization_id: organizationId } of await tx.db.many(
    openRecoveries,
  ))
    if (!(await isJobUnfinishedAbout(tx, recoverJob, { actionId })))
      await letGoOfRecovery(tx, { serviceId, organizationId, actionId }, failure);
}
