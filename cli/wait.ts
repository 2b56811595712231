/** Waits for what takes long, and says on standard error how it goes. */
import type { Client, Schema } from '../client/index.ts';
import { FailedError } from './failures.ts';
import { shown } from './shown.ts';

const pauseMs = 500;

const say = (text: string) => process.stderr.write(`${shown(text)}\n`);

/** Says a step once, however often it is seen. */
function teller(): (text: string) => void {
  let last = '';
  return (text) => {
    if (text !== last) say(text);
    last = text;
  };
}

/** Of a machine. Throws {@link FailedError} when it ends with an error. */
export async function waitForAction(
  client: Client,
  service: number,
  action: Schema<'Action'>,
): Promise<void> {
  const tell = teller();
  const ended = await client.waitForAction(
    service,
    action.id,
    undefined,
    ({ command, status, progress, note }) =>
      tell(
        [
          `${command}: ${status === 'running' ? `${progress} %` : status}`,
          ...(note === null ? [] : [note]),
        ].join(', '),
      ),
  );
  if (ended.status === 'error')
    throw new FailedError(`${ended.command} failed: ${ended.error?.message ?? 'nobody said why'}`);
}

/** Until all that an invoice bought has been delivered. Throws {@link FailedError} when it is not, or waits for a person. */
export async function waitForDelivery(client: Client, answer: Schema<'InvoicePaymentAnswer'>): Promise<void> {
  const isPaid = answer.invoice.status === 'paid';
  const { items } = isPaid ? answer.invoice : await waitForPayment(client, answer);
  const services = new Set(items.flatMap(({ service_id: id }) => (id === null ? [] : [id])));
  for (const id of services) await waitForService(client, id);
}

async function waitForPayment(
  client: Client,
  { invoice: { id, status }, charge, redirect_url: page }: Schema<'InvoicePaymentAnswer'>,
): Promise<Schema<'Invoice'>> {
  const isOnItsWay = charge?.state === 'open' || charge?.state === 'pending' || charge?.state === 'paid';
  if (page !== null)
    throw new FailedError(`Pay at ${page}: nothing is delivered before the invoice is paid.`);
  if (!isOnItsWay)
    throw new FailedError(
      charge?.state === 'failed'
        ? `${declined(charge)} Nothing is delivered before the invoice is paid.`
        : `The invoice is ${status}: nothing is delivered before it is paid.`,
    );
  say('The payment is on its way.');
  for (;;) {
    const { invoice } = await client.get('/dashboard/invoices/{id}', { path: { id } });
    if (invoice.status === 'paid') return invoice;
    if (invoice.status !== 'unpaid') throw new FailedError(`The invoice is ${invoice.status}.`);
    const now = invoice.charge?.id === charge.id ? invoice.charge : charge;
    if (now.state === 'failed')
      throw new FailedError(`${declined(now)} Pay at a page: inn invoices pay ${id} --method card`);
    if (now.state === 'over') throw new FailedError('The payment will not come. The invoice is still open.');
    await pause();
  }
}

/** A bank that wants its customer there has declined nothing. Providers end their reasons with a full stop, or do not. */
function declined({ decline, needs_customer: needsCustomer }: Schema<'Charge'>): string {
  if (needsCustomer) return 'Your bank wants you to confirm the payment.';
  const why = decline ?? 'nobody said why';
  return `The payment was declined: ${/[.!?]$/.test(why) ? why : `${why}.`}`;
}

function pause(): Promise<void> {
  return new Promise((resolve) => setTimeout(resolve, pauseMs));
}

async function waitForService(client: Client, id: number): Promise<void> {
  const tell = teller();
  for (;;) {
    const { service } = await client.get('/dashboard/services/{id}', { path: { id } });
    const name = service.hostname ?? service.domain ?? String(id);
    const waiting = service.waiting.map(({ message }) => message);
    const isOver = service.status === 'cancelled' || service.status === 'terminated';
    const isDone = service.provisioning_state === 'done';
    const step = isDone || isOver ? service.status : service.provisioning_state;
    if (isOver || service.provisioning_state === 'failed') {
      tell(`${name}: ${step}`);
      const why = isOver && service.end_reason !== null ? [service.end_reason] : waiting;
      const what = isOver ? `${name} is ${service.status}.` : `${name} could not be delivered.`;
      throw new FailedError([what, ...why].join(' '));
    }
    tell([`${name}: ${step}`, ...(isDone ? [] : waiting)].join(', '));
    if (isDone) return;
    await pause();
  }
}
