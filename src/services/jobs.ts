import { modules, returnCoupon, returnStock } from '../catalog/index.ts';
import { record } from '../events/index.ts';
import { releaseRoom, returnUnusedAddresses } from '../fleet/index.ts';
import {
  type AnySaga,
  enqueue,
  job,
  newId,
  type Run,
  statement,
  type TxContext,
  transaction,
} from '../platform/index.ts';

interface Ordered {
  id: number;
  organization_id: number;
  product_id: number;
  module_id: number;
  holds_stock: boolean;
}

// Locked, so that a repeated job finds them started or cancelled already.
const orderedBy = statement<Ordered>(
  'services.orderedBy',
  `select s.id, s.organization_id, s.product_id, s.holds_stock, p.module_id from services s join products p on p.id = s.product_id
   where s.invoice_id = $1 and s.status = 'pending' and s.provisioning_state = 'queued'
   order by s.id for update of s`,
);
const markStarted = statement(
  'services.markStarted',
  `update services set provisioning_state = 'running' where id = any($1::bigint[])`,
);
const markCancelled = statement(
  'services.markCancelled',
  `update services set status = 'cancelled' where id = any($1::bigint[])`,
);
const dropSecrets = statement(
  'services.dropSecrets',
  'delete from service_secrets where service_id = any($1::bigint[])',
);

interface Payload {
  invoiceId: number;
  kind: string;
  couponId?: number | null;
}

/** What services do when something happened to the invoice that ordered them. */
export const serviceJobs: AnySaga[] = [
  job<Payload>('invoice.paid', (run) => inTransaction(run, 'services.startDelivery', startDelivery)),
  job<Payload>('invoice.expired', (run) => inTransaction(run, 'services.giveBack', giveBack)),
];

function inTransaction(
  run: Run<Payload, object>,
  name: string,
  work: (tx: TxContext, payload: Payload, services: Ordered[]) => Promise<void>,
): Promise<void> {
  return transaction(run.ctx, name, async (tx) => {
    const services = await tx.db.many(orderedBy, run.payload.invoiceId);
    if (services.length > 0) await work(tx, run.payload, services);
  });
}

// Services that staff delivers by hand stay queued until staff says they are done.
async function startDelivery(tx: TxContext, _payload: Payload, services: Ordered[]): Promise<void> {
  const machines = services.filter((service) => service.module_id === modules.vps);
  await tx.db.run(
    markStarted,
    machines.map((service) => service.id),
  );
  for (const service of machines) {
    const payload = { serviceId: service.id, actionId: newId() };
    await enqueue(tx, 'vps.provision', payload, { organizationId: service.organization_id });
  }
}

async function giveBack(tx: TxContext, payload: Payload, services: Ordered[]): Promise<void> {
  const ids = services.map((service) => service.id);
  await tx.db.run(markCancelled, ids);
  await tx.db.run(dropSecrets, ids);
  const counts = new Map<number, number>();
  for (const service of services) {
    if (service.holds_stock) counts.set(service.product_id, (counts.get(service.product_id) ?? 0) + 1);
  }
  await returnStock(tx, counts);
  if (payload.couponId) await returnCoupon(tx, payload.couponId);
  for (const service of services) {
    await releaseRoom(tx, service.id);
    await returnUnusedAddresses(tx, service.id);
    await record(tx, {
      action: 'service.cancelled',
      subject: { type: 'service', id: service.id },
      organizationId: service.organization_id,
      data: { reason: 'the invoice was not paid in time' },
    });
  }
}
