import { requireRow, statement, type TxContext } from '../../platform/index.ts';
import type { InvoiceKind } from '../invoices/kind.ts';
import { giveBack, lockRefundable, type RefundableRow } from './refund.ts';

/** What pays for a service and its time: had in full or not at all. */
export const sellsService: readonly InvoiceKind[] = ['order', 'renewal', 'upgrade'];

/** What an invoice sold for one service. */
export interface Sold {
  invoiceId: number;
  kind: InvoiceKind;
  serviceId: number;
  /** Whoever takes the money back: a bank, or staff, which may mean it as a kindness. */
  by: 'bank' | 'staff';
}

/** What becomes of something sold whose money goes back: `over` was had to its end, `stays` goes on all the same. */
export type Fate = 'undone' | 'stays' | 'over';

export type Undoing = (tx: TxContext, sold: Sold) => Promise<Fate>;

let undoing: Undoing = () => Promise.reject(new Error('nobody has said what can be undone'));

/** The room above, which delivers what is sold here, says what of it can be undone. Once, when it is loaded. */
export function decideUndoing(answer: Undoing): void {
  undoing = answer;
}

interface Line {
  service_id: number | null;
  net_minor: number;
}

const linesOf = statement<Line, { id: number }>(
  'billing.netOfLines',
  `select service_id, price_minor + setup_fee_minor - discount_minor as net_minor from invoice_items
   where invoice_id = :id order by ordinal`,
);
interface Before {
  bank_minor: number;
  /** Neither a bank's nor the rest of what was undone. */
  other_minor: number;
  credited_minor: number;
  undone: string[];
}

const givenBefore = statement<Before, { id: number }>(
  'billing.givenBackBefore',
  `select r.bank_minor, r.all_minor - r.bank_minor - i.undone_credited_minor as other_minor,
     i.undone_credited_minor as credited_minor, i.undone_services::text[] as undone
   from invoices i cross join lateral (
     select coalesce(sum(amount_minor), 0)::bigint as all_minor,
       coalesce(sum(amount_minor) filter (where method in ('dispute', 'taken_back')), 0)::bigint as bank_minor
     from refunds where invoice_id = i.id) r
   where i.id = :id`,
);
const rememberUndone = statement<never, { id: number; undone: number[]; amountMinor: number }>(
  'billing.rememberUndone',
  `update invoices set undone_services = :undone::bigint[],
     undone_credited_minor = undone_credited_minor + :amountMinor
   where id = :id`,
);
const addUndone = statement<never, { id: number; serviceIds: number[] }>(
  'billing.addUndone',
  `update invoices set undone_services = array(
     select distinct s from unnest(undone_services || :serviceIds::bigint[]) as s order by s)
   where id = :id and not undone_services @> :serviceIds::bigint[]`,
);

/**
 * A bank took back money that had paid an invoice, whose row is locked, or it was never its customer's. That is no rebate:
 * the invoice is not paid any more, however small a part of it is left, and so what else paid it becomes credit. Gives how
 * much. Of what cannot be undone nothing goes back, for it was had or goes on: those who deliver it say so for each line.
 * What was given back before was for those lines first. What was undone stays so, and what the bank took is counted once:
 * asked again with nothing more undone, nothing more goes back.
 */
export async function giveBackRest(tx: TxContext, id: number): Promise<number> {
  const invoice = await requireRow(tx, lockRefundable, { id });
  const isRefunded = invoice.status === 'refunded' || invoice.status === 'partially_refunded';
  if (!sellsService.includes(invoice.kind) || !isRefunded) return 0;
  const before = await tx.db.one(givenBefore, { id });
  const undone = new Set(before.undone.map(Number));
  const lines = await tx.db.many(linesOf, { id });
  for (const { service_id: serviceId } of lines) {
    const sold = { invoiceId: id, kind: invoice.kind, by: 'bank' } as const;
    if (serviceId === null || undone.has(serviceId)) continue;
    if ((await undoing(tx, { ...sold, serviceId })) === 'undone') undone.add(serviceId);
  }
  const keptMinor = keptOf(invoice, lines, undone);
  const { bank_minor: bankMinor, other_minor: otherMinor, credited_minor: creditedMinor } = before;
  const ofUndoneMinor = invoice.total_minor - keptMinor - bankMinor - Math.max(0, otherMinor - keptMinor);
  const leftMinor = invoice.total_minor - invoice.refunded_minor;
  const amountMinor = Math.min(leftMinor, Math.max(0, ofUndoneMinor - creditedMinor));
  await tx.db.run(rememberUndone, { id, undone: [...undone], amountMinor });
  if (amountMinor === 0) return 0;
  const reason = 'What had paid the rest of it was taken back, so the invoice is not paid any more';
  await giveBack(tx, invoice, amountMinor, { method: 'credit', reason });
  return amountMinor;
}

/**
 * What of an invoice's total was for lines that were not undone. A line of a renewal that is of no period, as of traffic that was used, is asked
 * for again by another invoice once a bank took the money of this one, so it is undone.
 */
function keptOf(
  { total_minor: totalMinor, kind }: Pick<RefundableRow, 'total_minor' | 'kind'>,
  lines: Line[],
  undone: ReadonlySet<number>,
): number {
  const isKept = (id: number | null) => (id === null ? kind !== 'renewal' : !undone.has(id));
  let [netMinor, keptNetMinor] = [0n, 0n];
  for (const { service_id: serviceId, net_minor } of lines) {
    netMinor += BigInt(net_minor);
    if (isKept(serviceId)) keptNetMinor += BigInt(net_minor);
  }
  return netMinor === 0n ? 0 : Number((BigInt(totalMinor) * keptNetMinor) / netMinor);
}

/** Something that an invoice sold was undone: it stays so, whoever gives money of it back. */
export async function noteUndone(tx: TxContext, id: number, serviceIds: number[]): Promise<void> {
  await tx.db.run(addUndone, { id, serviceIds });
}

/**
 * A bank that had taken an amount of an invoice gives it back: how much of it was for what was undone, and so is the
 * customer's. The rest was had, or goes on. What was given back otherwise was for that first.
 */
export async function shareOfUndone(
  tx: TxContext,
  invoice: RefundableRow,
  amountMinor: number,
): Promise<number> {
  const { id, kind, total_minor: totalMinor, refunded_minor: refundedMinor } = invoice;
  if (!sellsService.includes(kind)) return 0;
  const { other_minor: otherMinor, undone } = await tx.db.one(givenBefore, { id });
  const keptMinor = keptOf(invoice, await tx.db.many(linesOf, { id }), new Set(undone.map(Number)));
  const goesBackMinor = Math.min(totalMinor, totalMinor - keptMinor + otherMinor);
  return Math.max(0, Math.min(amountMinor, goesBackMinor - (refundedMinor - amountMinor)));
}

/**
 * What goes on all the same although staff gave all of an invoice's money back, for staff to see: the first period of what
 * runs, the size that a machine has, what something else stands upon.
 */
export async function stayingOf(
  tx: TxContext,
  id: number,
): Promise<{ service_id: number; message: string }[]> {
  const { kind, status } = await requireRow(tx, lockRefundable, { id });
  if (!sellsService.includes(kind) || status !== 'refunded') return [];
  const lines = await tx.db.many(linesOf, { id });
  const serviceIds = new Set(lines.flatMap(({ service_id: serviceId }) => serviceId ?? []));
  const stays: { service_id: number; message: string }[] = [];
  for (const serviceId of serviceIds) {
    if ((await undoing(tx, { invoiceId: id, kind, serviceId, by: 'staff' })) !== 'stays') continue;
    const message =
      kind === 'order'
        ? 'It keeps the time that this invoice paid for. Terminate it if it is to end'
        : 'It keeps what this invoice paid for, at its price. Have it changed, or terminate it, if it should not';
    stays.push({ service_id: serviceId, message });
  }
  return stays;
}
