import { record } from '../../events/index.ts';
import {
  doEach,
  findHeldRestore,
  formatMoney,
  notSetAside,
  statement,
  systemActor,
  type TxContext,
} from '../../platform/index.ts';
import { askedAgainMs, mayBePaid } from '../charges/askPages.ts';
import { isOnItsWay, ofItself } from '../charges/onItsWay.ts';
import { invoiceExpired } from '../events.ts';
import { returnPart } from '../payments/returnPart.ts';
import { closePages } from '../payments/settle.ts';
import { takeBack } from './creditNote.ts';
import type { InvoiceKind } from './kind.ts';

const job = 'billing.expire';

interface Expiring {
  id: number;
  number: string | null;
  organization_id: number;
  organizationId: number;
  user_id: number | null;
  kind: InvoiceKind;
  currency: string;
  total_minor: number;
  tax_minor: number;
  paid_minor: number;
  booked_at_issue: boolean;
}

interface AskedBy {
  driver: string;
  now: Date;
}

const batch = 200;

// A debit takes days: what is on its way is no less paid than late.
const isBeingPaid = isOnItsWay('invoices.id', ofItself);

const expiring = statement<
  Pick<Expiring, 'id' | 'number' | 'organizationId'>,
  AskedBy & { askedSince: Date; limit: number }
>(
  'billing.expiring',
  `select id, number, organization_id as "organizationId" from invoices
   where status = 'unpaid' and kind not in ('renewal', 'late_fee', 'manual') and expires_at <= :now and not ${isBeingPaid}
     and not exists (select 1 from charges c where c.invoice_id = invoices.id and c.state = 'open' and c.driver = :driver
       and c.page_reference is not null and c.page_asked_at between :askedSince and :now)
     and ${notSetAside(job, 'invoices.id')}
   order by expires_at, id limit :limit`,
);
/** When the next invoice expires, for {@link expireInvoices}. What may not expire yet is looked at again and again. */
export const nextExpiring = statement<{ at: Date | null }, { now: Date }>(
  'billing.nextExpiring',
  `select min(expires_at) as at from invoices
   where status = 'unpaid' and kind not in ('renewal', 'late_fee', 'manual') and ${notSetAside(job, 'invoices.id')}`,
);
const lockExpiring = statement<Expiring, AskedBy & { id: number }>(
  'billing.lockExpiring',
  `select id, number, organization_id, organization_id as "organizationId", user_id, kind, currency, total_minor, tax_minor, paid_minor,
     booked_at_issue from invoices
   where id = :id and status = 'unpaid' and expires_at <= :now and not ${isBeingPaid} for update skip locked`,
);
const cancel = statement<{ id: number; organization_id: number; has_page: boolean }, { id: number }>(
  'billing.cancelExpired',
  `update invoices set status = 'cancelled' where id = :id
   returning id, organization_id, exists (select 1 from charges c where c.invoice_id = invoices.id and c.state = 'open'
     and c.page_reference is not null) as has_page`,
);

// In the order of every invoice, and of whoever has several organizations: by their ids, and before anything else.
const lockOrganizations = statement<{ id: number }, { ids: number[] }>(
  'billing.lockOrganizationsOfExpiring',
  'select id from organizations where id = any(:ids::bigint[]) order by id for no key update',
);

/**
 * Cancels invoices nobody paid in time, a batch of them. What they held is given back by whoever holds it, and what
 * was paid towards them becomes credit. What a service that runs has to pay stays open until the service ends, and what
 * staff has issued by hand until staff cancels it. After a restore what was paid since the backup counts as unpaid: nothing
 * expires until staff has released it. One that may have been paid on a page waits until the page is closed and looked at.
 */
export async function expireInvoices(ctx: TxContext): Promise<'more' | 'done'> {
  const tx = { ...ctx, actor: systemActor };
  if ((await findHeldRestore(tx)) !== null) return 'done';
  const asked = { driver: tx.config.payments, now: tx.clock.now() };
  const askedSince = new Date(asked.now.getTime() - askedAgainMs);
  const found = await tx.db.many(expiring, { ...asked, askedSince, limit: batch });
  // Those whose documents are numbered: a credit note takes a number.
  const numbered = found.filter(({ number }) => number !== null).map(({ organizationId }) => organizationId);
  if (numbered.length > 0) await tx.db.many(lockOrganizations, { ids: [...new Set(numbered)] });
  let attended = 0;
  await doEach(tx, job, found, async (one, { id }) => {
    // Whoever is at it pays or cancels it; otherwise it is found again.
    const invoice = await one.db.maybe(lockExpiring, { id, ...asked });
    if (invoice === null) return;
    if (!(await mayBePaid(one, invoice))) await expire(one, invoice);
    attended += 1;
  });
  return found.length === batch && attended > 0 ? 'more' : 'done';
}

async function expire(tx: TxContext, invoice: Expiring): Promise<void> {
  const { id, organizationId, user_id, kind, currency, paid_minor: amountMinor } = invoice;
  const part = { id, organizationId, currency, amountMinor };
  const credited = amountMinor > 0 ? await returnPart(tx, { ...part, why: 'which expired' }) : undefined;
  const total = formatMoney(invoice.total_minor, currency);
  await record(tx, invoiceExpired, {
    subject: { type: 'invoice', id },
    organizationId,
    data: { user_id, kind, currency, total, ...(credited && { credited }) },
  });
  await takeBack(tx, invoice, 'It was not paid in time');
  const cancelled = await tx.db.one(cancel, { id });
  if (cancelled.has_page) await closePages(tx, cancelled);
}
