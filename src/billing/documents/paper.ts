import { formatMoney } from '../../platform/index.ts';
import type { InvoiceRow } from '../invoices/read.ts';
import type { Buyer, Seller } from './parties.ts';
import { type Language, languageOf } from './texts.ts';

/**
 * All that a document says, and nothing else: the same paper is the same bytes each time. It is plain data, because
 * documents are drawn in a thread of their own. Amounts are decimals of the currency, days are ISO 8601.
 */
export interface Paper {
  /** A pro forma invoice asks for money; it becomes an invoice when it gets a number. */
  kind: 'invoice' | 'proforma' | 'credit_note';
  invoiceId: number;
  /** Null of a pro forma invoice. */
  number: string | null;
  date: string;
  due: string;
  currency: string;
  language: Language;
  seller: Seller;
  buyer: Buyer;
  /** The number of the invoice that a credit note corrects, and why. */
  corrects: string | null;
  reason: string | null;
  /** `net` is all of a line, before tax. */
  lines: { description: string; price: string; setupFee: string; discount: string; net: string }[];
  discount: string;
  /** After discounts, before tax. */
  net: string;
  tax: string;
  taxRate: string;
  taxCountry: string | null;
  /** Why there is no tax; null where there is. */
  untaxed: 'reverse_charge' | 'exempt' | 'none' | null;
  total: string;
  /** The day on which it was paid when it was issued; null when it asks for money. */
  paidOn: string | null;
  /** What it asks for. */
  payable: string;
}

/** What a document is made of: the invoice, and who stands on it. */
export interface PaperRow extends InvoiceRow {
  seller: Seller | null;
  buyer: Buyer | null;
  organization_name: string;
  corrects_number: string | null;
}

const dayOf = (time: Date) => time.toISOString().slice(0, 10);

/** The paper of an invoice. `company` stands on what was written before invoices kept whose they are. */
export function paperOf(row: PaperRow, company: Seller): Paper {
  const money = (minor: number) => formatMoney(minor, row.currency);
  const buyer = row.buyer ?? { name: row.organization_name };
  const issued = row.issued_at;
  const isCreditNote = row.kind === 'credit_note';
  // What came after the day of issue is not on the document: it stays the same.
  const paidOn = row.date_paid !== null && issued !== null && row.date_paid <= issued ? row.date_paid : null;
  return {
    kind: isCreditNote ? 'credit_note' : issued === null ? 'proforma' : 'invoice',
    invoiceId: row.id,
    number: row.number,
    date: dayOf(issued ?? row.created_at),
    due: dayOf(row.expires_at),
    currency: row.currency,
    language: languageOf(buyer),
    seller: row.seller ?? company,
    buyer,
    corrects: row.corrects_number,
    reason: row.reason,
    lines: row.items.map((item) => ({
      description: item.description,
      price: money(item.price_minor),
      setupFee: money(item.setup_fee_minor),
      discount: money(item.discount_minor),
      net: money(item.price_minor + item.setup_fee_minor - item.discount_minor),
    })),
    discount: money(row.discount_minor),
    net: money(row.subtotal_minor - row.discount_minor),
    tax: money(row.tax_minor),
    taxRate: (row.tax_rate_basis_points / 100).toFixed(2),
    taxCountry: row.tax_country,
    untaxed: row.tax_exempt ? 'none' : null,
    total: money(row.total_minor),
    paidOn: paidOn && dayOf(paidOn),
    payable: money(isCreditNote || paidOn !== null ? 0 : row.total_minor),
  };
}
