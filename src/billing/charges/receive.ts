import {
  type About,
  type MessageHeaders,
  PaymentError,
  type Payments,
  type ProviderEvent,
} from '../../drivers/payments/index.ts';
import type { Bytes } from '../../platform/http/index.ts';
import { type Context, enqueue, fail, statement, type TxContext, transaction } from '../../platform/index.ts';
import { followProvider } from './follow.ts';

const keepEvent = statement<
  never,
  { driver: string; reference: string; type: string; madeAt: Date; now: Date }
>(
  'billing.keepProviderEvent',
  `insert into provider_events (driver, reference, type, made_at, received_at)
   values (:driver, :reference, :type, :madeAt, :now) on conflict (driver, reference) do nothing`,
);

const thanks: Bytes = { body: Buffer.from('{"received":true}\n') };

/**
 * Takes what a provider tells us, once it has proved who it is. It is written down once, with the job that looks at what it
 * is about; told again, it is thanked for and nothing happens. `not_found`, `signature_invalid`.
 */
export async function receiveEvent(
  ctx: Context,
  payments: Payments,
  message: { driver: string; body: Buffer; headers: MessageHeaders },
): Promise<Bytes> {
  if (message.driver !== payments.kind || payments.kind === 'none')
    throw fail('not_found', { message: 'There is no such payment provider here' });
  const event = readEvent(payments, message);
  await transaction(ctx, 'billing.receiveEvent', (tx) => noteEvent(tx, payments.kind, event));
  return thanks;
}

/** Writes an event down and has it looked at, unless it is known. Says whether it was new. */
export async function noteEvent(tx: TxContext, driver: string, event: ProviderEvent): Promise<boolean> {
  const { reference, type, madeAt, about } = event;
  // What is none of ours is not kept either: others may use the same account for years.
  if (about === null) return false;
  const isNew = (await tx.db.run(keepEvent, { driver, reference, type, madeAt, now: tx.clock.now() })) === 1;
  if (isNew) await lookAt(tx, about);
  return isNew;
}

export async function lookAt(tx: TxContext, about: About): Promise<void> {
  await enqueue(tx, followProvider, { about }, { organizationId: null });
}

function readEvent(payments: Payments, { body, headers }: { body: Buffer; headers: MessageHeaders }) {
  try {
    return payments.readEvent(body, headers);
  } catch (error) {
    if (!(error instanceof PaymentError)) throw error;
    const message = error.code === 'signature_stale' ? 'This message was signed too long ago' : undefined;
    throw fail('signature_invalid', { cause: error, ...(message && { message }) });
  }
}
