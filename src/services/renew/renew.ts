import { statusOf } from '../../billing/index.ts';
import { formatMoney, type OrganizationContext, transaction } from '../../platform/index.ts';
import { readService } from '../read.ts';
import { requireTerms } from '../terms.ts';
import { issueRenewal } from './issue.ts';
import { discountPercent, offersOf } from './offer.ts';
import { findWaitingRenewal } from './queries.ts';

/** For which cycles a service of the organization can be renewed, and what each costs. */
export async function readRenewal(ctx: OrganizationContext, id: number) {
  const { service } = await readService(ctx, id);
  const terms = await requireTerms(ctx, id);
  const offers = await offersOf(ctx, terms);
  const waiting = await findWaitingRenewal(ctx, { serviceId: id });
  const isOpen = waiting !== null && (await statusOf(ctx, waiting.invoiceId)) === 'unpaid';
  return {
    service,
    cycles: offers.map((offer) => ({
      cycle: offer.cycle,
      price: formatMoney(offer.priceMinor, terms.currency),
      discount_percent: discountPercent(offer, offers[0] ?? offer),
      new_duedate: offer.endsOn,
      coming_price: offer.comingMinor === null ? null : formatMoney(offer.comingMinor, terms.currency),
    })),
    auto_renew: service.auto_renew,
    open_invoice_id: isOpen ? waiting.invoiceId : null,
  };
}

/** Asks for the next period of a service of the organization; see {@link issueRenewal}. */
export async function renewService(ctx: OrganizationContext, id: number, { cycle }: { cycle: string }) {
  return transaction(ctx, 'services.renew', async (tx) => {
    await readService(tx, id);
    return { invoice_id: await issueRenewal(tx, id, cycle) };
  });
}
