import { record } from '../../events/index.ts';
import { type Context, fail, forMany, statement, type TxContext, transaction } from '../../platform/index.ts';
import { serviceDoneByHand } from '../events.ts';
import { isByHand } from '../kinds/kind.ts';
import { kindOf } from '../kinds/table.ts';
import { readServiceForStaff } from '../read.ts';
import { factsOf, lockService } from '../suspend/lock.ts';
import { type Task, tasks } from './table.ts';

const dropTasks = statement<{ task: Task }, { serviceId: number; tasks: readonly string[] }>(
  'services.dropTasks',
  'delete from service_tasks where service_id = :serviceId and task = any(:tasks::text[]) returning task',
);
const insertTask = forMany(
  statement<never, { serviceId: number; organizationId: number; task: string; now: Date }>(
    'services.insertTask',
    `insert into service_tasks (service_id, organization_id, task, since) values (:serviceId, :organizationId, :task, :now)
   on conflict (service_id, task) do nothing`,
  ),
  { serviceId: 'bigint', organizationId: 'bigint', task: 'text', now: 'timestamptz' },
  (given) => `with given as materialized (select * from ${given}),
   written as (
     insert into service_tasks (service_id, organization_id, task, since)
     select "serviceId", "organizationId", task, now from given
     on conflict (service_id, task) do nothing returning service_id)
   select given.nth_ from given join written on written.service_id = given."serviceId"`,
);

/**
 * Has staff do something with a service by hand, when no room looks after its kind. The service's row is locked. To
 * suspend what staff has yet to let run again is nothing to do at all, and the other way round.
 */
export async function askByHand(
  tx: TxContext,
  service: { id: number; organizationId: number; moduleId: number; onServer: boolean },
  task: Task,
): Promise<void> {
  if (!isByHand(kindOf(service.moduleId))) return;
  const { id: serviceId, organizationId } = service;
  const { undoes } = tasks[task];
  const needless = undoes.length === 0 ? [] : await tx.db.many(dropTasks, { serviceId, tasks: undoes });
  if (needless.length > 0 && task !== 'terminate') return;
  // Of a server out of the rack a room does the rest.
  if (service.onServer) return;
  await tx.db.run(insertTask, { serviceId, organizationId, task, now: tx.clock.now() });
}

/** Staff has done what a service waited for. `not_found`; `conflict` when it does not wait for that. */
export async function finishByHand(ctx: Context, id: number, task: Task) {
  return transaction(ctx, 'services.finishByHand', async (tx) => {
    const service = await lockService(tx, id);
    const { organizationId } = service;
    if ((await tx.db.many(dropTasks, { serviceId: id, tasks: [task] })).length === 0) {
      throw fail('conflict', { message: `Nobody has to ${task} this service by hand` });
    }
    const subject = { type: 'service', id };
    await record(tx, serviceDoneByHand, { subject, organizationId, data: { ...factsOf(service), task } });
    return readServiceForStaff(tx, id);
  });
}
