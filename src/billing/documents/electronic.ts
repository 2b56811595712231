import type { Invoice } from '@e-invoice-eu/core';
import type { Paper, PaperLine } from './paper.ts';
import type { Buyer, Party, Seller } from './parties.ts';
import { plain as plainText } from './plain.ts';
import { referenceOf } from './reference.ts';
import { categoriesOf, categoryOf, vat } from './taxCategory.ts';

/** Electronic invoices that there are (EN 16931): what customers ask for, and what the library calls it. */
export const electronicFormats = {
  ubl: 'UBL',
  cii: 'CII',
  xrechnung: 'XRECHNUNG-UBL',
  'xrechnung-cii': 'XRECHNUNG-CII',
} as const;
export type ElectronicFormat = keyof typeof electronicFormats;

type Ubl = Invoice['ubl:Invoice'];

/** Text that comes out as it went in: the library decodes entities once, and leaves what then looks like one. */
function plain(text: string): string {
  return shielded(plainText(text));
}

function shielded(text: string): string {
  return text.replaceAll('&', '&amp;amp;');
}

const sums = '</ram:SpecifiedTradeSettlementHeaderMonetarySummation>';

/** In CII the library leaves out which invoice a credit note corrects (BT-25). */
function naming(corrects: string | null, xml: string): string {
  if (corrects === null) return xml;
  const id = `<ram:IssuerAssignedID>${plain(corrects)}</ram:IssuerAssignedID>`;
  return xml.replace(
    sums,
    () => `${sums}<ram:InvoiceReferencedDocument>${id}</ram:InvoiceReferencedDocument>`,
  );
}

/** What a document lacks to be an electronic invoice of a format, in words that say whose setting it is. */
export function lacking(paper: Paper, format: ElectronicFormat): string[] {
  const { seller, buyer, number, total, lines } = paper;
  const isReversed = lines.some(({ untaxed }) => untaxed === 'reverse_charge');
  const needs: [there: unknown, what: string][] = [
    [number, 'a number, which it gets later'],
    [Number(total) !== 0, 'an amount'],
    [seller.name, "the company's name"],
    [seller.country, "the company's country"],
    [seller.vat_id ?? seller.tax_id, "the company's VAT id or tax number"],
    [buyer.country, 'the country in your billing profile'],
    [!isReversed || seller.vat_id, "the company's VAT id"],
    [!isReversed || buyer.tax_id, 'the VAT id in your billing profile'],
  ];
  const ofUbl: typeof needs = [
    [seller.email, "the company's e-mail address"],
    [buyer.email, 'the e-mail address in your billing profile'],
  ];
  const ofPublicBuyers: typeof needs = [
    ...ofUbl,
    [seller.city, "the company's city"],
    [seller.postal_code, "the company's postal code"],
    [seller.contact, "the company's contact"],
    [seller.phone, "the company's phone number"],
    [buyer.city, 'the city in your billing profile'],
    [buyer.postal_code, 'the postal code in your billing profile'],
    [buyer.routing_id, 'the routing id in your billing profile'],
  ];
  const more = { cii: [], ubl: ofUbl, xrechnung: ofPublicBuyers, 'xrechnung-cii': ofPublicBuyers }[format];
  const all = [...needs, ...more];
  return all.flatMap(([there, what]) => (there ? [] : [what]));
}

/** An electronic invoice as XML. Nothing is {@link lacking}. It takes a third of a second of a processor. */
export async function writeElectronic(paper: Paper, format: ElectronicFormat): Promise<Buffer> {
  // A large library, which only the thread of the press ever loads, and only when it is needed.
  const { InvoiceService } = await import('@e-invoice-eu/core');
  const unheard = () => undefined;
  const service = new InvoiceService({ log: unheard, warn: unheard, error: unheard });
  const xml = await service.generate(
    { 'ubl:Invoice': ublOf(paper) },
    { format: electronicFormats[format], lang: paper.language, noWarnings: true },
  );
  return Buffer.from(naming(paper.corrects, String(xml)));
}

/** Of UNTDID 1001. */
const typeCodes = { invoice: '380', proforma: '380', credit_note: '381', correction: '384' };

function ublOf(paper: Paper): Ubl {
  const { kind, currency, buyer } = paper;
  const isCreditNote = kind === 'credit_note';
  // A credit note is positive by definition: that it takes back is what it is.
  const sign = isCreditNote ? -1 : 1;
  const amount = (decimal: string) => signed(decimal, sign);
  const isOutside = paper.lines.some(({ untaxed }) => untaxed === 'outside');
  const net = amount(paper.net);
  const [total, payable] = [amount(paper.total), isCreditNote ? amount(paper.total) : paper.payable];
  const prepaid = isCreditNote || Number(payable) !== 0 ? {} : { 'cbc:PrepaidAmount': total };
  const ubl = {
    'cbc:ID': plain(paper.number ?? ''),
    'cbc:IssueDate': paper.date,
    ...(isCreditNote ? {} : { 'cbc:DueDate': paper.due }),
    'cbc:InvoiceTypeCode': typeCodes[kind],
    ...notesOf(paper),
    'cbc:DocumentCurrencyCode': currency,
    ...optional('cbc:BuyerReference', buyer.routing_id),
    ...(buyer.order_number ? { 'cac:OrderReference': { 'cbc:ID': plain(buyer.order_number) } } : {}),
    ...(paper.corrects === null
      ? {}
      : {
          'cac:BillingReference': [{ 'cac:InvoiceDocumentReference': { 'cbc:ID': plain(paper.corrects) } }],
        }),
    'cac:AccountingSupplierParty': { 'cac:Party': sellerOf(paper.seller, !isOutside) },
    'cac:AccountingCustomerParty': { 'cac:Party': buyerOf(buyer, !isOutside) },
    // What is sold runs from its payment on.
    'cac:Delivery': { 'cbc:ActualDeliveryDate': paper.date },
    'cac:PaymentMeans': [paymentOf(paper)],
    'cac:TaxTotal': [
      {
        'cbc:TaxAmount': amount(paper.tax),
        'cac:TaxSubtotal': categoriesOf(paper).map(({ taxable, tax, category }) => ({
          'cbc:TaxableAmount': amount(taxable),
          'cbc:TaxAmount': amount(tax),
          'cac:TaxCategory': { ...category.rate, ...category.reason, ...vat },
        })),
      },
    ],
    'cac:LegalMonetaryTotal': {
      'cbc:LineExtensionAmount': net,
      'cbc:TaxExclusiveAmount': net,
      'cbc:TaxInclusiveAmount': total,
      ...prepaid,
      'cbc:PayableAmount': payable,
    },
    'cac:InvoiceLine': paper.lines.map((line, at) => ({
      'cbc:ID': String(at + 1),
      ...pricedOf(line, paper.taxIncluded, amount(line.net)),
      'cbc:LineExtensionAmount': amount(line.net),
      'cac:Item': {
        'cbc:Name': named(nameOf(line, paper.taxIncluded)),
        'cac:ClassifiedTaxCategory': { ...categoryOf(paper, line.untaxed).rate, ...vat },
      },
    })),
  };
  return withCurrency(ubl, currency) as unknown as Ubl;
}

function notesOf({ reason, note }: Paper) {
  const notes = [reason, note].flatMap((text) => plain(text ?? '') || []);
  return notes.length === 0 ? {} : { 'cbc:Note': notes };
}

/** What one costs before tax is known where prices are before tax; elsewhere the line is one thing, which says the rest. */
function pricedOf({ quantity, unitPrice }: PaperLine, isIncluded: boolean, net: string) {
  // A price is never negative: less than nothing is so many fewer.
  const isLess = net.startsWith('-');
  const one = { quantity: isLess ? '-1' : '1', price: isLess ? net.slice(1) : net };
  const said = quantity === null || isIncluded ? one : { quantity, price: unitPrice };
  return {
    'cbc:InvoicedQuantity': said.quantity,
    'cbc:InvoicedQuantity@unitCode': 'C62', // one
    'cac:Price': { 'cbc:PriceAmount': said.price },
  };
}

function nameOf({ description, quantity, unitPrice }: PaperLine, isIncluded: boolean): string {
  return quantity === null || !isIncluded ? description : `${description} (${quantity} × ${unitPrice})`;
}

/** Where nothing is subject to VAT, VAT ids stand nowhere (EN 16931, BR-O-02 and on). */
function sellerOf(seller: Seller, hasVat: boolean) {
  const taxIds = [
    ...(hasVat && seller.vat_id ? [{ 'cbc:CompanyID': plain(seller.vat_id), ...vat }] : []),
    ...(seller.tax_id
      ? [{ 'cbc:CompanyID': plain(seller.tax_id), 'cac:TaxScheme': { 'cbc:ID': 'FC' } }]
      : []),
  ];
  return {
    ...endpointOf(seller),
    // Without a VAT id and a register, buyers know it by its tax number.
    ...((hasVat && seller.vat_id) || seller.register
      ? {}
      : { 'cac:PartyIdentification': [{ 'cbc:ID': plain(seller.tax_id || seller.vat_id || '') }] }),
    'cac:PostalAddress': addressOf(seller),
    ...(taxIds.length === 0 ? {} : { 'cac:PartyTaxScheme': taxIds }),
    'cac:PartyLegalEntity': {
      'cbc:RegistrationName': plain(seller.name),
      ...optional('cbc:CompanyID', seller.register),
    },
    ...contactOf({ name: seller.contact, phone: seller.phone, email: seller.email }),
  };
}

function buyerOf(buyer: Buyer, hasVat: boolean) {
  const isVatId = hasVat && /^[A-Z]{2}[A-Z0-9]+$/.test(buyer.tax_id ?? '');
  return {
    ...endpointOf(buyer),
    'cac:PostalAddress': addressOf(buyer),
    ...(isVatId ? { 'cac:PartyTaxScheme': { 'cbc:CompanyID': buyer.tax_id, ...vat } } : {}),
    'cac:PartyLegalEntity': { 'cbc:RegistrationName': named(buyer.name) },
    ...contactOf({ email: buyer.email }),
  };
}

/** Where electronic mail about it goes. */
function endpointOf({ email }: Party) {
  return email ? { 'cbc:EndpointID': plain(email), 'cbc:EndpointID@schemeID': 'EM' } : {};
}

function addressOf(party: Party) {
  return {
    ...optional('cbc:StreetName', party.address_line1),
    ...optional('cbc:AdditionalStreetName', party.address_line2),
    ...optional('cbc:CityName', party.city),
    ...optional('cbc:PostalZone', party.postal_code),
    ...optional('cbc:CountrySubentity', party.region),
    'cac:Country': { 'cbc:IdentificationCode': party.country },
  };
}

function contactOf({
  name,
  phone,
  email,
}: { [part in 'name' | 'phone' | 'email']?: string | null | undefined }) {
  const contact = {
    ...optional('cbc:Name', name),
    ...optional('cbc:Telephone', phone),
    ...optional('cbc:ElectronicMail', email),
  };
  return Object.keys(contact).length === 0 ? {} : { 'cac:Contact': contact };
}

/** UNTDID 4461: a SEPA credit transfer, another one, or what is paid already by a way of its own. */
function paymentOf({ kind, payable, seller, currency, invoiceId }: Paper) {
  if (kind === 'credit_note' || Number(payable) === 0 || !seller.iban) return { 'cbc:PaymentMeansCode': '1' };
  return {
    'cbc:PaymentMeansCode': currency === 'EUR' ? '58' : '30',
    'cbc:PaymentID': referenceOf(invoiceId),
    'cac:PayeeFinancialAccount': {
      'cbc:ID': seller.iban,
      'cbc:Name': plain(seller.name),
      ...(seller.bic ? { 'cac:FinancialInstitutionBranch': { 'cbc:ID': seller.bic } } : {}),
    },
  };
}

function optional<Name extends string>(name: Name, value: string | null | undefined) {
  const text = plain(value ?? '');
  return (text === '' ? {} : { [name]: text }) as { [key in Name]?: string };
}

/** A name has to be there, whatever was made of it. */
function named(text: string): string {
  return shielded([...plainText(text)].slice(0, 500).join('')) || '–';
}

function signed(decimal: string, sign: 1 | -1): string {
  if (sign === 1 || Number(decimal) === 0) return decimal.replace(/^-(?=[0.]+$)/, '');
  return decimal.startsWith('-') ? decimal.slice(1) : `-${decimal}`;
}

/** Each amount says its currency beside it. */
function withCurrency(value: unknown, currency: string): unknown {
  if (Array.isArray(value)) return value.map((each) => withCurrency(each, currency));
  if (typeof value !== 'object' || value === null) return value;
  return Object.fromEntries(
    Object.entries(value).flatMap(([name, inner]) =>
      /^cbc:\w*Amount$/.test(name)
        ? [
            [name, inner],
            [`${name}@currencyID`, currency],
          ]
        : [[name, withCurrency(inner, currency)]],
    ),
  );
}
