import {
  type AnySaga,
  type Context,
  enqueueNamed,
  type Failure,
  job,
  jobStateNamed,
  newId,
  type Run,
  statement,
  type TxContext,
  transaction,
} from '../platform/index.ts';
import { cancelUndelivered, lockServicesOf, type Ordered } from './delivery/cancelUndelivered.ts';
import { failDelivery } from './delivery/delivery.ts';
import { kindOf } from './kinds/table.ts';
import { applyPaidUpgrade, giveBackUpgrade } from './upgradeApply.ts';

const markStarted = statement<never, { ids: number[] }>(
  'services.markStarted',
  `update services set provisioning_state = 'running' where id = any(:ids::bigint[])`,
);

interface Payload {
  invoiceId: number;
  couponId?: number | null;
}

/** What services do when something happened to the invoice that ordered them. */
export const serviceJobs: AnySaga[] = [
  job<Payload>(
    'invoice.paid',
    async (run) => {
      await inTransaction(run, 'services.startDelivery', startDelivery);
      await applyPaidUpgrade(run.ctx, run.payload.invoiceId);
    },
    { failed: failUnstarted },
  ),
  job<Payload>('invoice.expired', async (run) => {
    await inTransaction(run, 'services.giveBack', (tx, payload, services) =>
      cancelUndelivered(tx, services, payload.couponId ?? null, 'the invoice was not paid in time'),
    );
    await giveBackUpgrade(run.ctx, run.payload.invoiceId);
  }),
  job<Payload>('invoice.refunded', async (run) => {
    await inTransaction(run, 'services.takeBack', (tx, payload, services) =>
      cancelUndelivered(tx, services, payload.couponId ?? null, 'the invoice was refunded'),
    );
    await giveBackUpgrade(run.ctx, run.payload.invoiceId);
  }),
];

// Locked, so that a repeated job finds them started or cancelled already.
function inTransaction(
  run: Run<Payload, object>,
  name: string,
  work: (tx: TxContext, payload: Payload, services: Ordered[]) => Promise<void>,
): Promise<void> {
  return transaction(run.ctx, name, async (tx) => {
    const services = await lockServicesOf(tx, run.payload.invoiceId);
    if (services.length > 0) await work(tx, run.payload, services);
  });
}

// Services that staff delivers by hand stay queued until staff says they are done.
async function startDelivery(tx: TxContext, _payload: Payload, services: Ordered[]): Promise<void> {
  const machines: Ordered[] = [];
  for (const service of services) {
    if (kindOf(service.module_id).deliveredBy === null || service.status !== 'pending') continue;
    if (service.provisioning_state === 'queued' || (await neverStarted(tx, service))) machines.push(service);
  }
  for (const service of machines) await startMachine(tx, service);
}

/** Failed because this very job did, which is now tried again; otherwise its own job is the one to retry. */
async function neverStarted(ctx: Context, service: Ordered): Promise<boolean> {
  if (service.provisioning_state !== 'failed') return false;
  return (await jobStateNamed(ctx, 'vps.provision', { serviceId: service.id })) === null;
}

/** Has a machine made for a service whose row is locked. */
export async function startMachine(
  tx: TxContext,
  service: { id: number; organization_id: number },
): Promise<void> {
  await tx.db.run(markStarted, { ids: [service.id] });
  const payload = { serviceId: service.id, actionId: newId() };
  await enqueueNamed(tx, 'vps.provision', payload, { organizationId: service.organization_id });
}

async function failUnstarted(tx: TxContext, { invoiceId }: Payload, failure: Failure): Promise<void> {
  for (const service of await lockServicesOf(tx, invoiceId)) {
    if (kindOf(service.module_id).deliveredBy === null || service.provisioning_state !== 'queued') continue;
    await failDelivery(tx, service.id, failure.message);
  }
}
