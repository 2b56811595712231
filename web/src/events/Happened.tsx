import type { Schema } from '../../../client/index.ts';
import { useHappened } from '../text/happened.ts';
import { LinkTo } from '../ui/index.ts';

type Entry = Schema<'ActivityEntry'>;

/** What happened, leading to what it happened to where that has a page. */
export function Happened({ entry }: { entry: Entry }) {
  const happened = useHappened();
  const { service, invoice } = entry;
  const address = addressOf(entry);
  if (service !== null)
    return (
      <LinkTo to="/services/$id" params={{ id: String(service.id) }}>
        {happened(entry)}
      </LinkTo>
    );
  if (invoice !== null)
    return (
      <LinkTo to="/invoices/$id" params={{ id: String(invoice.id) }}>
        {happened(entry)}
      </LinkTo>
    );
  if (address !== null)
    return (
      <LinkTo to="/shield/addresses/$ip" params={{ ip: address }}>
        {happened(entry)}
      </LinkTo>
    );
  return happened(entry);
}

/** The address whose rules it is about; of several the first one. */
function addressOf({ values }: Entry): string | null {
  const { destination, destinations } = values;
  const first: unknown = destination ?? (Array.isArray(destinations) ? destinations[0] : undefined);
  return typeof first === 'string' ? first.replace(/\/\d+$/, '') : null;
}
