import { plain } from './plain.ts';
import { referenceOf } from './reference.ts';

/** Who is paid, and what for. */
export interface Transfer {
  payee: string;
  iban: string;
  bic: string | null;
  /** Decimal: `12.50`. */
  amount: string;
  currency: string;
  invoiceId: number;
}

/**
 * What a banking app reads from the code on an invoice (EPC069-12, version 002): a SEPA credit transfer with a creditor
 * reference. Null for what SEPA does not carry: another currency, nothing, or a thousand millions.
 */
export function giroCode(transfer: Transfer): string | null {
  const { iban, bic, amount, currency, invoiceId } = transfer;
  const payee = [...plain(transfer.payee)].slice(0, 70).join('');
  const euros = Number(amount);
  if (currency !== 'EUR' || payee === '' || euros < 0.01 || euros > 999_999_999.99) return null;
  const utf8 = '1';
  return [
    ...['BCD', '002', utf8, 'SCT', bic ?? '', payee, iban, `EUR${amount}`],
    ...['', referenceOf(invoiceId)],
  ].join('\n');
}
