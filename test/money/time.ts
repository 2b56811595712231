import { expect } from 'vitest';
import { adopt } from './adopt.ts';
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
  for (const job of ['billing.expire', 'services.calendar']) {
    await shop.product.periodic(job);
    await shop.quiet();
  }
  await shop.product.periodic('billing.earn');
  await Promise.all(
    shop.customers.map(async (customer) => {
      await adopt(shop, customer);
      await shop.shows(customer);
      for (const service of customer.services) service.isRenewed = false;
      if (days < daysToPay) return;
      const open = customer.invoices.filter(
        ({ status, kind }) => status === 'unpaid' && kind !== 'renewal' && kind !== 'late_fee',
      );
      expect(open, `seed ${shop.seed}: what nobody paid in ${days} days`).toEqual([]);
    }),
  );
}
