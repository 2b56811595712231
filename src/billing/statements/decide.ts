import { record } from '../../events/index.ts';
import { organizationExists } from '../../organizations/index.ts';
import { type Context, formatMoney, refuse, transaction } from '../../platform/index.ts';
import { bankEntryDismissed } from '../events.ts';
import type { NamedPart } from '../payments/split.ts';
import { type BankEntryRow, bookEntry, requireUndecided, settleEntry } from './book.ts';
import { readEntry } from './read.ts';

export interface EntryBooking {
  /** Default: the only one that is proposed. */
  organization_id?: number;
  /** What it pays; default: what is proposed with the organization, or else what is due, the oldest first. */
  invoices?: NamedPart[];
}

/** Books an entry as staff says, or as it is proposed. `conflict` once it is decided, and what booking refuses. */
export async function bookBankEntry(
  ctx: Context,
  statementId: number,
  entryId: number,
  booking: EntryBooking,
) {
  return transaction(ctx, 'billing.bookBankEntry', async (tx) => {
    const entry = await requireUndecided(tx, statementId, entryId);
    const { organizationId, invoices } = wantedFor(entry, booking);
    if (!(await organizationExists(tx, organizationId))) {
      throw refuse('organization_id', 'must be an organization that there is');
    }
    await bookEntry(tx, entry, organizationId, invoices);
    return readEntry(tx, entryId);
  });
}

function wantedFor({ proposals }: BankEntryRow, booking: EntryBooking) {
  const proposed = new Set(proposals.map(({ organization_id }) => organization_id));
  const [only] = proposed.size === 1 ? proposed : [];
  const organizationId = booking.organization_id ?? only;
  if (organizationId === undefined) {
    const message = proposals.length === 0 ? 'nothing is proposed' : 'several are proposed';
    throw refuse('organization_id', `must be whose money it is, since ${message}`);
  }
  if (booking.invoices !== undefined) return { organizationId, invoices: booking.invoices };
  const of = proposals.filter(({ organization_id }) => organization_id === organizationId);
  const ids = [...new Set(of.flatMap(({ invoice_ids }) => invoice_ids))];
  // Several that it may be for are no answer: what is due is paid, the oldest first.
  return { organizationId, ...(ids.length === 1 && { invoices: ids.map((invoice_id) => ({ invoice_id })) }) };
}

/** Says that an entry is no customer's: interest, a transfer of our own. `conflict` once it is decided. */
export async function dismissBankEntry(ctx: Context, statementId: number, entryId: number, reason: string) {
  return transaction(ctx, 'billing.dismissBankEntry', async (tx) => {
    const entry = await requireUndecided(tx, statementId, entryId);
    await settleEntry(tx, entry, 'dismissed', reason);
    const { amount_minor, currency } = entry;
    await record(tx, bankEntryDismissed, {
      subject: { type: 'bank_entry', id: entryId },
      organizationId: null,
      data: { statement_id: statementId, amount: formatMoney(amount_minor, currency), currency, reason },
    });
    return readEntry(tx, entryId);
  });
}
