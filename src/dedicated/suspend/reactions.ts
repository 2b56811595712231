import { starts } from '../../events/index.ts';
import { askNow, powerOfServices } from '../../fleet/index.ts';
import {
  enqueue,
  findHeldRestore,
  isJobUnfinishedAbout,
  type PeriodicJob,
  type Reaction,
  statement,
} from '../../platform/index.ts';
import { serviceSuspended, serviceUnsuspended } from '../../services/index.ts';
import { resumeServer, suspendServer } from './suspend.ts';

/** What becomes of a server when its service may not be used, and when it may be used again. */
export const suspendReactions: Reaction[] = [
  starts(serviceSuspended, suspendServer, ({ subject, data }) =>
    data.on_server ? { serviceId: subject.id } : null,
  ),
  starts(serviceUnsuspended, resumeServer, ({ subject, data }) =>
    data.on_server ? { serviceId: subject.id } : null,
  ),
];

const next = statement<{ at: Date | null }, { now: Date }>(
  'dedicated.nextSuspended',
  `select case when exists (select from services where status = 'suspended' and on_server) then :now::timestamptz end as at`,
);
const suspended = statement<{ id: number; organization_id: number }>(
  'dedicated.suspended',
  `select id, organization_id from services where status = 'suspended' and on_server order by id limit 1000`,
);

/**
 * Whoever stands before a server can switch it on, and so can whatever wakes it over the network: it is asked every minute while its service is suspended, and
 * switched off again. Not while a restore is held: its customer may have paid since the backup.
 */
export const watchSuspendedPeriodicJob: PeriodicJob = {
  name: 'dedicated.watchSuspended',
  intervalMs: 60_000,
  due: next,
  work: async (tx) => {
    if ((await findHeldRestore(tx)) !== null) return;
    const services = new Map((await tx.db.many(suspended)).map((row) => [row.id, row.organization_id]));
    for (const { service_id: serviceId, server_id: serverId, power } of await powerOfServices(tx, [
      ...services.keys(),
    ])) {
      if (await isJobUnfinishedAbout(tx, suspendServer, { serviceId })) continue;
      const organizationId = services.get(serviceId) ?? null;
      if (power === 'on') await enqueue(tx, suspendServer, { serviceId }, { organizationId });
      else await askNow(tx, serverId);
    }
  },
};
