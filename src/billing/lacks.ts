import { type Context, dayOf, type Lack, type LackSource, statement } from '../platform/index.ts';
import { readSettings } from '../settings/index.ts';
import { company } from './documents/company.ts';

const inSettings = { mendedAt: { page: '/staff/settings', operation: 'updateSettings' } } as const;
const inRates = { mendedAt: { page: '/staff/tax-rates', operation: 'addTaxRate' } } as const;

// Of a country the newest row that has begun counts; one without a rate is its end.
const rated = statement<{ has: boolean }, { country: string | null; today: string }>(
  'billing.isRated',
  `select exists (
     select from tax_rates r
     where (:country::text is null or r.country = :country) and r.valid_from <= :today::date and r.rate_basis_points is not null
       and not exists (select from tax_rates n where n.country = r.country and n.valid_from > r.valid_from
         and n.valid_from <= :today::date)) as has`,
);

/** What invoices lack of who sells, of tax, and of a way to pay them. */
export const billingLacks: LackSource = {
  codes: ['company.address', 'tax.number', 'tax.rate', 'payments.none'],
  find: async (ctx) => {
    const seller = await readSettings(ctx, company);
    const { address_line1: street, postal_code: postalCode, city, country } = seller;
    const lacks: Lack[] = [];
    const lacking = Object.entries({ name: seller.name, street, 'postal code': postalCode, city, country })
      .filter(([, value]) => !value)
      .map(([name]) => name);
    if (lacking.length > 0)
      lacks.push({
        code: 'company.address',
        message: `Invoices go out without who sells: the company lacks ${lacking.join(', ')}`,
        ...inSettings,
      });
    if (!seller.vat_id && !seller.tax_id)
      lacks.push({
        code: 'tax.number',
        message:
          'Invoices go out without a number of the tax office: the company has no VAT id and no tax number',
        ...inSettings,
      });
    if (!(await isRated(ctx, country)))
      lacks.push({
        code: 'tax.rate',
        message:
          `Nobody is charged tax: ${country ? `${country} has` : 'there is'} no rate that counts today. ` +
          'If you charge none, add one of 0.00',
        ...inRates,
      });
    if (ctx.config.payments === 'none' && !seller.iban)
      lacks.push({
        code: 'payments.none',
        message:
          'Customers cannot pay: set STRIPE_SECRET_KEY and STRIPE_WEBHOOK_SECRET, or the IBAN they transfer to',
        ...inSettings,
      });
    return lacks;
  },
};

async function isRated(ctx: Context, country: string | null): Promise<boolean> {
  return (await ctx.db.one(rated, { country, today: dayOf(ctx.clock.now()) })).has;
}
