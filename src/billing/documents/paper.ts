import { allocate, dayOf, formatMoney } from '../../platform/index.ts';
import { dueOf } from '../invoices/payable.ts';
import { formatQuantity } from '../invoices/quantity.ts';
import type { InvoiceRow } from '../invoices/read.ts';
import type { Treatment } from '../tax/decide.ts';
import type { Buyer, Seller } from './parties.ts';
import { type Language, languageOf, texts } from './texts.ts';

/** Why there is no tax. */
export type Untaxed = Exclude<Treatment, 'taxed'>;

/**
 * All that a document says, and nothing else: the same paper is the same bytes each time. It is plain data, because
 * documents are drawn in a thread of their own. Amounts are decimals of the currency, days are ISO 8601.
 */
export interface Paper {
  /** A pro forma invoice asks for money; it becomes an invoice when it gets a number. */
  /** `correction`: adds to an invoice what a credit note had taken off. */
  kind: 'invoice' | 'proforma' | 'credit_note' | 'correction';
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
  /** What staff wrote on it. */
  note: string | null;
  lines: PaperLine[];
  discount: string;
  /** After discounts, before tax. */
  net: string;
  tax: string;
  taxRate: string;
  taxCountry: string | null;
  /** Whether the amounts of the lines have the tax inside. */
  taxIncluded: boolean;
  /** Why there is no tax; null where there is. A credit note by which tax was corrected has lines of both kinds. */
  untaxed: Untaxed | null;
  /** Why an exempt buyer pays none, as staff has written it. */
  exemptReason: string | null;
  total: string;
  /** The day on which it was paid when it was issued; null when it asks for money. */
  paidOn: string | null;
  /** What it asks for; of a pro forma invoice, what is open of it. */
  payable: string;
}

/** Amounts as the invoice has them; `net` is all of a line, before tax. */
export interface PaperLine {
  description: string;
  /** How much of it, where that is said: `2.5`, and what one costs. */
  quantity: string | null;
  unitPrice: string;
  price: string;
  setupFee: string;
  discount: string;
  net: string;
  /** Why there is no tax on it; null where there is. */
  untaxed: Untaxed | null;
}

/** What a document is made of: the invoice, and who stands on it. */
export interface PaperRow extends InvoiceRow {
  seller: Seller | null;
  buyer: Buyer | null;
  organization_name: string;
  corrects_number: string | null;
  /** Whether its buyer was closed so long ago that nobody has to know any more who that was. */
  forgotten: boolean;
}

/** The paper of an invoice. `company` stands on what was written before invoices kept whose they are. */
export function paperOf(row: PaperRow, company: Seller): Paper {
  const money = (minor: number) => formatMoney(minor, row.currency);
  const buyer = row.buyer ?? { name: row.organization_name };
  const issued = row.issued_at;
  const isCreditNote = row.kind === 'credit_note';
  // What came after the day of issue is not on the document: it stays the same.
  const paidOn = row.date_paid !== null && issued !== null && row.date_paid <= issued ? row.date_paid : null;
  const language = languageOf(buyer);
  const untaxed = untaxedOf(row.tax_treatment);
  const nets = netsOf(row);
  return {
    kind: isCreditNote
      ? row.total_minor < 0
        ? 'credit_note'
        : 'correction'
      : issued === null
        ? 'proforma'
        : 'invoice',
    invoiceId: row.id,
    number: row.number,
    date: dayOf(issued ?? row.created_at),
    due: dayOf(row.expires_at),
    currency: row.currency,
    language,
    seller: row.seller ?? company,
    buyer,
    corrects: row.corrects_number,
    reason: row.reason,
    note: row.note,
    lines: row.items.map((item, at) => ({
      description: describe(row, item, language),
      quantity: item.quantity_thousandths === null ? null : formatQuantity(item.quantity_thousandths),
      unitPrice: money(item.unit_price_minor ?? item.price_minor),
      price: money(item.price_minor),
      setupFee: money(item.setup_fee_minor),
      discount: money(item.discount_minor),
      net: money(nets[at] ?? 0),
      untaxed: item.tax_treatment === null ? untaxed : untaxedOf(item.tax_treatment),
    })),
    discount: money(row.discount_minor),
    net: money(row.total_minor - row.tax_minor),
    tax: money(row.tax_minor),
    taxRate: (row.tax_rate_basis_points / 100).toFixed(2),
    taxCountry: row.tax_country,
    taxIncluded: row.tax_included,
    untaxed,
    exemptReason: row.tax_reason,
    total: money(row.total_minor),
    paidOn: paidOn && dayOf(paidOn),
    payable: money(isCreditNote || paidOn !== null ? 0 : issued === null ? dueOf(row) : row.total_minor),
  };
}

function untaxedOf(treatment: Treatment): Untaxed | null {
  return treatment === 'taxed' ? null : treatment;
}

type Item = PaperRow['items'][number];

/** What each line is before tax. Where the tax is inside, it is shared out so that the lines add up to the cent. */
function netsOf({ items, tax_included: isIncluded, total_minor, tax_minor }: PaperRow): number[] {
  const amounts = items.map((item) => item.price_minor + item.setup_fee_minor - item.discount_minor);
  if (!isIncluded) return amounts;
  const netMinor = total_minor - tax_minor;
  const sign = netMinor < 0 ? -1 : 1;
  const shares = allocate(
    sign * netMinor,
    amounts.map((minor) => sign * minor),
  );
  return shares.map((minor) => (minor === 0 ? 0 : sign * minor));
}

/** A credit note names what it takes back in its reader's language, where that is no line of the invoice. */
function describe(row: PaperRow, item: Item, language: Language): string {
  if (row.kind !== 'credit_note' || row.corrects_number === null || item.corrects_ordinal !== null)
    return item.description;
  const say = texts[language];
  const name = say.ofInvoice(row.corrects_number);
  const isCorrectionOfTax = row.items.some(({ tax_treatment: treatment }) => treatment !== null);
  if (!isCorrectionOfTax) return name;
  const rate = (row.tax_rate_basis_points / 100).toFixed(2);
  return `${name}, ${item.tax_treatment === null ? say.tax(rate, row.tax_country) : say.reverseCharged}`;
}
