/** What documents say, by language. A new language is a row here. */
export interface Texts {
  invoice: string;
  proforma: string;
  creditNote: string;
  correction: string;
  number: string;
  date: string;
  due: string;
  corrects: string;
  reference: string;
  orderNumber: string;
  routingId: string;
  yourTaxId: string;
  description: string;
  amount: string;
  amountWithTax: string;
  setupFee: string;
  discount: string;
  subtotal: string;
  tax: (rate: string, country: string | null) => string;
  total: string;
  reverseCharge: string;
  /** The same in a word, of a line. */
  reverseCharged: string;
  exempt: (reason: string | null) => string;
  noTax: string;
  proformaNote: string;
  creditNoteNote: (number: string) => string;
  correctionNote: (number: string) => string;
  ofInvoice: (number: string) => string;
  reason: string;
  paidOn: (day: string) => string;
  nothingDue: string;
  payBy: (amount: string, day: string) => string;
  payee: string;
  iban: string;
  bic: string;
  bank: string;
  scan: string;
  register: string;
  vatId: string;
  taxId: string;
  page: (page: number, of: number) => string;
  /** `2026-01-31` as people write it. */
  day: (iso: string) => string;
  /** `1234.50` as people write it. */
  amountOf: (decimal: string) => string;
}

const months = [
  ...['January', 'February', 'March', 'April', 'May', 'June', 'July', 'August', 'September', 'October'],
  ...['November', 'December'],
];

function grouped(decimal: string, thousands: string, point: string): string {
  const [whole = '', fraction] = decimal.split('.');
  const groups = whole.replaceAll(/\d(?=(\d{3})+$)/g, `$&${thousands}`);
  return fraction === undefined ? groups : `${groups}${point}${fraction}`;
}

const en: Texts = {
  invoice: 'Invoice',
  proforma: 'Pro forma invoice',
  creditNote: 'Credit note',
  correction: 'Invoice correction',
  number: 'Number',
  date: 'Date',
  due: 'Due',
  corrects: 'Corrects invoice',
  reference: 'Payment reference',
  orderNumber: 'Your order number',
  routingId: 'Routing ID',
  yourTaxId: 'Your VAT ID or tax number',
  description: 'Description',
  amount: 'Amount',
  amountWithTax: 'Amount incl. VAT',
  setupFee: 'One-time setup',
  discount: 'Discount',
  subtotal: 'Total before tax',
  tax: (rate, country) => `VAT ${rate} %${country === null ? '' : ` (${country})`}`,
  total: 'Total',
  reverseCharge:
    'Reverse charge: VAT is to be accounted for by the recipient (Article 196, Directive 2006/112/EC).',
  reverseCharged: 'reverse charge',
  exempt: (reason) => `Exempt from VAT${reason === null ? '' : `: ${reason}`}.`,
  noTax: 'No VAT is charged.',
  proformaNote:
    'This is a request for payment and no invoice in the sense of tax law. The invoice follows once it is paid.',
  creditNoteNote: (number) => `This credit note corrects invoice ${number}.`,
  correctionNote: (number) =>
    `This document corrects invoice ${number}: what a credit note had taken off it counts again.`,
  ofInvoice: (number) => `Invoice ${number}`,
  reason: 'Reason',
  paidOn: (day) => `Paid on ${day}. Thank you.`,
  nothingDue: 'There is nothing to pay.',
  payBy: (amount, day) => `Please transfer ${amount} by ${day}.`,
  payee: 'Payee',
  iban: 'IBAN',
  bic: 'BIC',
  bank: 'Bank',
  scan: 'Scan with your banking app to pay',
  register: 'Register',
  vatId: 'VAT ID',
  taxId: 'Tax number',
  page: (page, of) => `Page ${page} of ${of}`,
  day: (iso) => `${Number(iso.slice(8))} ${months[Number(iso.slice(5, 7)) - 1]} ${iso.slice(0, 4)}`,
  amountOf: (decimal) => grouped(decimal, ',', '.'),
};

const de: Texts = {
  invoice: 'Rechnung',
  proforma: 'Proforma-Rechnung',
  creditNote: 'Rechnungskorrektur',
  correction: 'Rechnungskorrektur',
  number: 'Nummer',
  date: 'Datum',
  due: 'Fällig am',
  corrects: 'Zu Rechnung',
  reference: 'Verwendungszweck',
  orderNumber: 'Ihre Bestellnummer',
  routingId: 'Leitweg-ID',
  yourTaxId: 'Ihre USt-IdNr.',
  description: 'Leistung',
  amount: 'Betrag',
  amountWithTax: 'Betrag inkl. USt.',
  setupFee: 'Einmalige Einrichtung',
  discount: 'Rabatt',
  subtotal: 'Summe netto',
  tax: (rate, country) => `USt. ${rate.replace('.', ',')} %${country === null ? '' : ` (${country})`}`,
  total: 'Gesamtbetrag',
  reverseCharge:
    'Steuerschuldnerschaft des Leistungsempfängers (Reverse Charge, Artikel 196 der Richtlinie 2006/112/EG).',
  reverseCharged: 'Steuerschuldnerschaft des Leistungsempfängers',
  exempt: (reason) => `Umsatzsteuerfrei${reason === null ? '' : `: ${reason}`}.`,
  noTax: 'Es wird keine Umsatzsteuer berechnet.',
  proformaNote:
    'Dies ist eine Zahlungsaufforderung und keine Rechnung im Sinne des Umsatzsteuerrechts. Die Rechnung folgt nach der Zahlung.',
  creditNoteNote: (number) => `Diese Rechnungskorrektur berichtigt die Rechnung ${number}.`,
  correctionNote: (number) =>
    `Diese Rechnungskorrektur berichtigt die Rechnung ${number}: Was eine frühere Korrektur abgezogen hatte, gilt wieder.`,
  ofInvoice: (number) => `Rechnung ${number}`,
  reason: 'Grund',
  paidOn: (day) => `Bezahlt am ${day}. Vielen Dank.`,
  nothingDue: 'Es ist nichts zu zahlen.',
  payBy: (amount, day) => `Bitte überweisen Sie ${amount} bis zum ${day}.`,
  payee: 'Empfänger',
  iban: 'IBAN',
  bic: 'BIC',
  bank: 'Bank',
  scan: 'Mit der Banking-App scannen und bezahlen',
  register: 'Register',
  vatId: 'USt-IdNr.',
  taxId: 'Steuernummer',
  page: (page, of) => `Seite ${page} von ${of}`,
  day: (iso) => `${iso.slice(8)}.${iso.slice(5, 7)}.${iso.slice(0, 4)}`,
  amountOf: (decimal) => grouped(decimal, '.', ','),
};

export const texts = { en, de };
export type Language = keyof typeof texts;

const spoken: Record<string, Language> = { AT: 'de', CH: 'de', DE: 'de', LI: 'de' };

/** The language of a customer's documents: the one that was chosen, or that of the country, or English. */
export function languageOf({
  language,
  country,
}: {
  language?: string | null;
  country?: string | null;
}): Language {
  const chosen = (language ?? '').slice(0, 2).toLowerCase();
  if (chosen in texts) return chosen as Language;
  return (language ?? '') === '' ? (spoken[country ?? ''] ?? 'en') : 'en';
}
