import { formatMoney, type OrganizationContext } from '../../platform/index.ts';
import { readSettings } from '../../settings/index.ts';
import { readableCredit } from '../charges/held.ts';
import { leastByProvider, reasonAgainstLittle } from '../charges/least.ts';
import { type Coming, isComing } from '../charges/onItsWay.ts';
import { company } from '../documents/company.ts';
import type { InvoiceKind } from '../invoices/kind.ts';
import { dueOf } from '../invoices/payable.ts';
import { reasonAgainst } from '../invoices/states.ts';

export const wayCodes = [
  'invoice_not_payable',
  'insufficient_credit',
  'payment_provider_missing',
  'payment_too_small',
  'payment_not_possible',
] as const;

interface Refusal {
  code: (typeof wayCodes)[number];
  message: string;
}

interface Owed {
  id: number;
  kind: InvoiceKind;
  status: string;
  currency: string;
  total_minor: number;
  paid_minor: number;
  coming: Coming | null;
}

/** Where to transfer to. */
interface Account {
  holder: string;
  bank: string | null;
  iban: string;
  bic: string | null;
}

/** Nobody is to pay the same twice by mistake. From credit or by transfer, which are asked of nobody, they may. */
export const paymentComing =
  'A payment for this invoice is on its way, which may take some days; it is paid once that has arrived, and can be paid anew if it fails';

/** Credit that buys credit would only go in a circle. */
export function reasonAgainstCredit({ id, kind }: Pick<Owed, 'id' | 'kind'>): Refusal | null {
  if (kind !== 'top_up') return null;
  const message = `Invoice ${id} is for account credit, so it cannot be paid with credit; pay it by card or transfer`;
  return { code: 'invoice_not_payable', message };
}

/** Whether what can be spent covers what is due. */
export function reasonAgainstSpending(
  dueMinor: number,
  spendableMinor: number,
  currency: string,
): Refusal | null {
  if (spendableMinor >= dueMinor) return null;
  const [due, there] = [dueMinor, spendableMinor].map((minor) => formatMoney(minor, currency));
  const message = `There is not enough account credit to pay this invoice: ${due} ${currency} are due, and ${there} can be spent`;
  return { code: 'insufficient_credit', message };
}

/** Every way that an invoice of the caller's organization may be paid, and what speaks against each. */
export async function paymentWays(ctx: OrganizationContext, invoice: Owed) {
  const { currency } = invoice;
  const isOpen = reasonAgainst('pay', invoice);
  const payable: Refusal | null = isOpen && { code: 'invoice_not_payable', message: isOpen.message };
  const dueMinor = dueOf(invoice);
  const circle = reasonAgainstCredit(invoice);
  const spendableMinor = circle === null ? await readableCredit(ctx, ctx.organizationId, currency) : 0;
  const { name, bank, iban, bic } = await readSettings(ctx, company);
  const provider = ctx.config.payments === 'none' ? null : ctx.config.payments;
  const way = (
    method: 'credit' | 'card' | 'bank_transfer',
    refusal: Refusal | null,
    minor: number,
    more: { provider?: string | null; account?: Account } = {},
  ) => ({
    method,
    allowed: refusal === null,
    reason: refusal?.message ?? null,
    code: refusal?.code ?? null,
    amount: formatMoney(Math.min(minor, dueMinor), currency),
    provider: more.provider ?? null,
    account: more.account ?? null,
  });
  return [
    way(
      'credit',
      payable ?? circle ?? reasonAgainstSpending(dueMinor, spendableMinor, currency),
      spendableMinor,
    ),
    way(
      'card',
      payable ??
        (provider === null
          ? noProvider(iban)
          : isComing(ctx, invoice.coming)
            ? comingRefusal
            : reasonAgainstLittle(dueMinor, leastByProvider(ctx, currency), currency)),
      dueMinor,
      { provider },
    ),
    way(
      'bank_transfer',
      payable ?? (iban === null ? noAccount(provider) : null),
      dueMinor,
      iban === null ? {} : { account: { holder: name, bank, iban, bic } },
    ),
  ];
}

const comingRefusal: Refusal = { code: 'invoice_not_payable', message: paymentComing };
/** Neither sends anybody to a way that is closed as well. */
const noProvider = (iban: string | null): Refusal => ({
  code: 'payment_provider_missing',
  message: `Nothing can be paid online here; pay from credit or ${iban === null ? 'write to us' : 'by transfer'}`,
});
const noAccount = (provider: string | null): Refusal => ({
  code: 'payment_not_possible',
  message: `No bank account is named to transfer to; pay from credit or ${provider === null ? 'write to us' : 'online'}`,
});
