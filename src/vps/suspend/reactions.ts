import { on, starts } from '../../events/index.ts';
import { newId, type Reaction, statement, type TxContext } from '../../platform/index.ts';
import { serviceSuspended, serviceTerminated, serviceUnsuspended } from '../../services/index.ts';
import { beginSystemAction } from '../actions/act.ts';
import { locked } from '../actions/history.ts';
import { powerJobs } from '../actions/job.ts';
import { findMachine, setMachineState } from '../machine.ts';
import { findVps, isVps, lockVps } from '../queries.ts';
import { suspendMachine } from './suspend.ts';
import { terminateMachine } from './terminate.ts';

const wantBackupsAgain = statement<never, { serviceId: number; now: Date }>(
  'vps.wantBackupsAgain',
  'update machines set backup_wanted_at = :now where service_id = :serviceId and backup_enabled',
);

/** What becomes of a machine when its service may not be used, may be used again, or has ended. */
export const suspendReactions: Reaction[] = [
  starts(serviceSuspended, suspendMachine, ({ subject, organizationId, data }) =>
    isVps(data) && organizationId !== null
      ? { serviceId: subject.id, organizationId, actionId: newId() }
      : null,
  ),
  on(serviceUnsuspended, 'vps.unsuspend', (tx, { subject }) => goOn(tx, subject.id), {
    when: isVps,
    // However long the machine takes to stop: then it has its turn.
    attempts: Number.POSITIVE_INFINITY,
  }),
  starts(serviceTerminated, terminateMachine, ({ subject, organizationId, data }) =>
    isVps(data) && organizationId !== null
      ? { serviceId: subject.id, organizationId, actionId: newId() }
      : null,
  ),
];

/** The machine is what its customer wants it to be again. One that does not start is tried again, later and later. */
async function goOn(tx: TxContext, serviceId: number): Promise<void> {
  await lockVps(tx, serviceId);
  const vps = await findVps(tx, serviceId);
  const machine = await findMachine(tx, serviceId);
  if (vps?.service_status !== 'active' || machine === null) return;
  if (vps.action !== null && !vps.action.waits) throw locked(vps.action.command);
  // No night was missed while there were none to be had.
  await tx.db.run(wantBackupsAgain, { serviceId, now: tx.clock.now() });
  // It never came to be stopped, or a start that failed before is tried again already.
  if (machine.state !== 'suspended' && machine.state !== 'error') return;
  if (machine.state === 'suspended') await setMachineState(tx, serviceId, 'stopped');
  if (machine.wanted !== 'running') return;
  const reason = 'its service is no longer suspended, and the machine has been started again';
  await beginSystemAction(tx, { ...machine, state: 'stopped' }, powerJobs.start, {
    force: false,
    repair: true,
    reason,
  });
}
