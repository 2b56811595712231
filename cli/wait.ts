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

/** Until all that an invoice bought has been delivered. */
export async function waitForDelivery(client: Client, answer: Schema<'InvoicePaymentAnswer'>): Promise<void> {
  if (answer.invoice.status !== 'paid') {
    say(`The invoice is ${answer.invoice.status}: nothing is delivered before it is paid.`);
    return;
  }
  const services = new Set(answer.invoice.items.flatMap(({ service_id: id }) => (id === null ? [] : [id])));
  for (const id of services) await waitForService(client, id);
}

async function waitForService(client: Client, id: number): Promise<void> {
  const tell = teller();
  for (;;) {
    const { service } = await client.get('/dashboard/services/{id}', { path: { id } });
    const name = service.hostname ?? service.domain ?? String(id);
    tell(`${name}: ${service.provisioning_state === 'done' ? service.status : service.provisioning_state}`);
    if (service.provisioning_state === 'done') return;
    if (service.provisioning_state === 'failed')
      throw new FailedError(
        [`${name} could not be delivered.`, ...service.waiting.map(({ message }) => message)].join(' '),
      );
    await new Promise((resolve) => setTimeout(resolve, pauseMs));
  }
}
