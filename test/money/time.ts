import { expect } from 'vitest';
import { adopt, toInvoice } from './adopt.ts';
import type { Shop } from './shop.ts';

const msPerDay = 86_400_000;
/** Whoever orders has so many days to pay. */
const daysToPay = 4;

/**
 * Days go by: what nobody paid expires, what runs is invoiced, charged, reminded of, suspended and ended by the calendar,
 * and what is paid is earned.
 */
export async function passTime(shop: Shop, days: number): Promise<void> {
  await shop.quiet();
  shop.product.clock.travel(days * msPerDay);
  // What has a page open expires once that is closed and looked at.
  for (const job of ['billing.expire', 'billing.expire', 'services.calendar']) {
    await shop.product.periodic(job);
    await shop.quiet();
  }
  await shop.product.periodic('billing.earn');
  await adoptAll(shop);
  // What the calendar charged late may be asked for once more at once: not later, when its customer is at something else.
  while (shop.customers.some((customer) => toInvoice(shop, customer).length > 0)) {
    await shop.product.periodic('services.calendar');
    await shop.quiet();
    await adoptAll(shop);
  }
  await Promise.all(
    shop.customers.map(async (customer) => {
      await shop.shows(customer);
      if (days < daysToPay) return;
      const open = customer.invoices.filter(
        ({ status, kind }) => status === 'unpaid' && kind !== 'renewal' && kind !== 'late_fee',
      );
      expect(open, `seed ${shop.seed}: what nobody paid in ${days} days`).toEqual([]);
    }),
  );
}

async function adoptAll(shop: Shop): Promise<void> {
  await Promise.all(shop.customers.map((customer) => adopt(shop, customer)));
}
