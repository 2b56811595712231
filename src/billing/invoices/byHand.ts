import { requireSold } from '../../catalog/index.ts';
import { organizationExists, ownerOf, statusOfOrganization } from '../../organizations/index.ts';
import {
  type Context,
  fail,
  formatMoney,
  newId,
  parseMoney,
  refuse,
  rehearse,
  type TxContext,
  transaction,
} from '../../platform/index.ts';
import { settleFree } from '../payments/pay.ts';
import { taxOf } from '../tax/taxOf.ts';
import { readInvoiceForStaff } from './invoiceStaff.ts';
import { dueAt, endOfDay, issueInvoice, type Line } from './issue.ts';
import { notIssued } from './notIssued.ts';
import { parseQuantity, priceOfQuantity } from './quantity.ts';

/** What staff invoices. Amounts are decimals of the currency, with the tax inside where prices have it. */
export interface ByHand {
  organization_id: number;
  currency: string;
  lines: { description: string; quantity?: string; unit_price: string; service_id?: number }[];
  /** `2026-01-31`; default: as for what customers order. */
  duedate?: string;
  note?: string;
  dry_run?: boolean;
}

/** Which of some services an organization owns; services are a room above. */
export type OwnedServices = (
  ctx: Context,
  organizationId: number,
  ids: readonly number[],
) => Promise<Set<number>>;

/**
 * Issues an invoice by hand, taxed like every other. With `dry_run` all of that is done and taken back, so that what is
 * shown is what would be. `not_found`, `currency_not_sold`, `invalid_request`, `amount_too_large`.
 */
export async function issueByHand(ctx: Context, asked: ByHand, owned: OwnedServices) {
  return transaction(ctx, 'billing.issueByHand', async (tx) => {
    if (asked.dry_run !== true) return { dry_run: false, ...(await issue(tx, asked, owned)) };
    const tried = await rehearse(tx, (trial) => issue(trial, asked, owned));
    return { dry_run: true, invoice: { ...tried.invoice, ...notIssued } };
  });
}

async function issue(tx: TxContext, asked: ByHand, owned: OwnedServices) {
  const { organization_id: organizationId, currency, note = null } = asked;
  if (!(await organizationExists(tx, organizationId)))
    throw fail('not_found', { message: `There is no organization ${organizationId}` });
  await requireSold(tx, currency);
  const tax = await taxOf(tx, organizationId, { lock: true });
  if ((await statusOfOrganization(tx, organizationId)) === 'closed')
    throw fail('conflict', { message: `Organization ${organizationId} is closed: nobody is there to pay` });
  await requireOwned(tx, asked, owned);
  const id = newId();
  const { totalMinor } = await issueInvoice(tx, {
    ...{ id, organizationId, userId: await ownerOf(tx, organizationId), kind: 'manual', currency, tax },
    lines: asked.lines.map((line, at) => lineOf(line, currency, at)),
    couponId: null,
    expiresAt: dueOn(tx, asked.duedate),
    note,
  });
  if (totalMinor === 0) await settleFree(tx, id);
  return readInvoiceForStaff(tx, id);
}

function lineOf(
  { description, quantity = '1', ...line }: ByHand['lines'][number],
  currency: string,
  at: number,
): Line {
  const quantityThousandths = parseQuantity(quantity);
  if (quantityThousandths === null)
    throw refuse(
      `lines[${at}].quantity`,
      'must be a quantity above zero such as 1 or 2.5, with at most three digits after the point',
    );
  const unitPriceMinor = parseMoney(line.unit_price, currency);
  if (unitPriceMinor === null)
    throw refuse(
      `lines[${at}].unit_price`,
      `must be an amount of ${currency} in decimals, such as ${formatMoney(1250, currency)}`,
    );
  const priceMinor = priceOfQuantity(quantityThousandths, unitPriceMinor);
  if (priceMinor === null) throw fail('amount_too_large');
  return {
    ...{ productId: null, serviceId: line.service_id ?? null, description, priceMinor },
    ...{ setupFeeMinor: 0, discountMinor: 0, quantityThousandths, unitPriceMinor },
  };
}

async function requireOwned(tx: TxContext, { organization_id: id, lines }: ByHand, owned: OwnedServices) {
  const wanted = lines.flatMap(({ service_id: serviceId }) => serviceId ?? []);
  const theirs = wanted.length === 0 ? new Set() : await owned(tx, id, wanted);
  const at = lines.findIndex(
    ({ service_id: serviceId }) => serviceId !== undefined && !theirs.has(serviceId),
  );
  if (at !== -1) throw refuse(`lines[${at}].service_id`, 'must be a service of this organization');
}

const longestDays = 366;

/** The end of a day (UTC), which is neither over nor far away. */
function dueOn(tx: TxContext, day: string | undefined): Date {
  if (day === undefined) return dueAt(tx);
  const due = endOfDay(day);
  const ahead = due.getTime() - tx.clock.now().getTime();
  if (ahead >= 0 && ahead < longestDays * 86_400_000) return due;
  throw refuse('duedate', 'must be a day from today on, and within a year');
}
