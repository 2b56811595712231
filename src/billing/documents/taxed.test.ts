/** What documents say of the tax of their invoice, for people and for programs, read by programs that did not write them. */
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { samplePaper } from '../../../bench/documents.ts';
import { audit } from '../../../test/crash/audit.ts';
import { payByCredit } from '../../../test/invoices.ts';
import { newCustomer, type Person } from '../../../test/people.ts';
import { startTestProduct, type TestProduct } from '../../../test/product.ts';
import { settled } from '../../../test/sql.ts';
import { runProgram } from '../../platform/host/program.ts';

const dir = mkdtempSync(path.join(tmpdir(), 'innkeeper-taxed-'));
const frenchId = 'FR40303265045';
const ourId = samplePaper(1).seller.vat_id;

let product: TestProduct;
beforeAll(async () => {
  product = await startTestProduct();
  const { seller } = samplePaper(1);
  expect((await product.staff.patch('/staff/settings', { company: seller })).status).toBe(200);
  for (const [country, rate] of Object.entries({ DE: '19.00', NO: '0.00' }))
    await product.staff.post('/staff/tax/rates', { country, rate, valid_from: '2020-01-01' });
});
afterAll(async () => {
  await settled(product);
  expect(await audit(product.databaseUrl)).toEqual([]);
  await product.stop();
  rmSync(dir, { recursive: true, force: true });
});

const there = {
  ...{ kind: 'company', consumer: false, name: 'Buyer', address_line1: 'Street 1', postal_code: '12345' },
  ...{ city: 'Town', email: 'ap@example.com', routing_id: '04011000-12345-34' },
};

async function buyer(said: Record<string, unknown>, standing?: Record<string, unknown>): Promise<Person> {
  const person = await newCustomer(product, { creditMinor: 1_000_000 });
  const answer = await person.patch('/dashboard/billing/profile', { ...there, ...said });
  expect(answer.status, JSON.stringify(answer.body)).toBe(200);
  if (standing !== undefined) {
    const told = await product.staff.patch(`/staff/organizations/${person.organizationId}/tax`, standing);
    expect(told.status, JSON.stringify(told.body)).toBe(200);
  }
  return person;
}

/** Two lines, of which one says how much: 100.00 and 29.99. */
async function buys(person: Person): Promise<number> {
  const lines = [
    { description: 'Hours', quantity: '2.5', unit_price: '40.00' },
    { description: 'Parts', unit_price: '29.99' },
  ];
  const body = { organization_id: person.organizationId, currency: 'EUR', lines };
  const { id } = (await product.staff.post('/staff/invoices', body)).body.data.invoice;
  expect((await payByCredit(person, id)).status).toBe(200);
  return id;
}

async function bytes(person: Person, url: string): Promise<Buffer> {
  const headers = { token: person.key, 'x-organization-id': String(person.organizationId) };
  const response = await fetch(`${product.url}/api/dashboard/invoices/${url}`, { headers });
  const body = Buffer.from(await response.arrayBuffer());
  expect(response.status, body.toString()).toBe(200);
  return body;
}

async function pdfText(person: Person, id: number): Promise<string> {
  const file = path.join(dir, 'a.pdf');
  writeFileSync(file, await bytes(person, `${id}/pdf`));
  expect((await runProgram(['qpdf', '--check', file])).stdout).toContain(
    'No syntax or stream encoding errors',
  );
  return (await runProgram(['pdftotext', '-layout', file, '-'])).stdout.replaceAll(/\s+/g, ' ');
}

/** What XPath says of it, names without their spaces. */
async function asker(person: Person, id: number, format: string) {
  const file = path.join(dir, 'a.xml');
  writeFileSync(file, await bytes(person, `${id}/xml?format=${format}`));
  return async (query: string) => {
    const names = query.replaceAll(/(?<=\/)[A-Z]\w+/g, (name) => `*[local-name()="${name}"]`);
    return (await runProgram(['xmllint', '--xpath', names, file])).stdout.trim();
  };
}

const formats = ['ubl', 'cii', 'xrechnung', 'xrechnung-cii'];

/** Categories and rates of the breakdown, and how often VAT ids stand there, in either syntax. */
async function taxedBy(person: Person, id: number, format: string) {
  const ask = await asker(person, id, format);
  const text = (where: string) => ask(`string(${where})`);
  if (format.endsWith('cii')) {
    const tax = '//ApplicableHeaderTradeSettlement/ApplicableTradeTax';
    return {
      category: await text(`${tax}/CategoryCode`),
      line: await text('//SpecifiedLineTradeSettlement/ApplicableTradeTax/CategoryCode'),
      rate: await text(`${tax}/RateApplicablePercent`),
      why: await text(`${tax}/ExemptionReason`),
    };
  }
  const category = '//TaxSubtotal/TaxCategory';
  return {
    category: await text(`${category}/ID`),
    line: await text('//ClassifiedTaxCategory/ID'),
    rate: await text(`${category}/Percent`),
    why: await text(`${category}/TaxExemptionReason`),
    vatIds: await text(`count(//PartyTaxScheme[*[local-name()="TaxScheme"]/*[local-name()="ID"]="VAT"])`),
  };
}

describe('the tax of an invoice', () => {
  interface Case {
    what: string;
    said: Record<string, unknown>;
    standing?: Record<string, unknown>;
    says: RegExp;
    never: RegExp;
    xml: { category: string; rate: RegExp; why: RegExp; vatIds: string };
  }
  const cases: Case[] = [
    {
      what: 'at a rate',
      said: { country: 'DE' },
      says: /USt\. 19,00 % \(DE\) 24,70/,
      never: /Steuerschuldnerschaft|keine Umsatzsteuer/,
      xml: { category: 'S', rate: /^19(\.00)?$/, why: /^$/, vatIds: '1' },
    },
    {
      what: 'reverse charged',
      said: { country: 'FR', tax_id: frenchId },
      standing: { tax_id_state: 'valid', consultation_number: 'by phone' },
      says: /Reverse charge: VAT is to be accounted for by the recipient/,
      never: /VAT 19|No VAT is charged/,
      xml: { category: 'AE', rate: /^0(\.00)?$/, why: /^Reverse charge/, vatIds: '2' },
    },
    {
      what: 'reverse charged, in German',
      said: { country: 'FR', tax_id: frenchId, language: 'de' },
      standing: { tax_id_state: 'valid', consultation_number: 'by phone' },
      says: /Steuerschuldnerschaft des Leistungsempfängers/,
      never: /USt\. 19|Reverse charge: VAT/,
      xml: { category: 'AE', rate: /^0(\.00)?$/, why: /^Steuerschuldnerschaft/, vatIds: '2' },
    },
    {
      what: 'exempt for a reason',
      said: { country: 'DE' },
      standing: { exempt_reason: '§ 4 Nr. 20 UStG' },
      says: /Umsatzsteuerfrei: § 4 Nr\. 20 UStG\./,
      never: /USt\. 19|keine Umsatzsteuer/,
      xml: { category: 'E', rate: /^0(\.00)?$/, why: /^Umsatzsteuerfrei: § 4 Nr\. 20 UStG\.$/, vatIds: '1' },
    },
    {
      what: 'of no concern here',
      said: { country: 'US' },
      says: /No VAT is charged\./,
      never: /Reverse charge|Exempt/,
      xml: { category: 'O', rate: /^$/, why: /^No VAT is charged\.$/, vatIds: '0' },
    },
    {
      what: 'at a rate of nothing',
      said: { country: 'NO' },
      says: /VAT 0\.00 % \(NO\) 0\.00/,
      never: /Reverse charge|Exempt|No VAT/,
      xml: { category: 'Z', rate: /^0(\.00)?$/, why: /^$/, vatIds: '1' },
    },
  ];
  it.each(cases)(
    '$what is said in words and in codes',
    async ({ said, standing, says, never, xml }) => {
      const person = await buyer(said, standing);
      const id = await buys(person);
      const text = await pdfText(person, id);
      expect(text).toMatch(says);
      expect(text).not.toMatch(never);
      expect(text).toContain(String(ourId));
      for (const format of formats) {
        const told = await taxedBy(person, id, format);
        expect(told, format).toMatchObject({ category: xml.category, line: xml.category });
        expect(told.rate, format).toMatch(xml.rate);
        expect(told.why, format).toMatch(xml.why);
        if ('vatIds' in told) expect(told.vatIds, format).toBe(xml.vatIds);
      }
    },
    120_000,
  );

  it('inside of prices is taken out of them, for programs to the cent', async () => {
    await product.staff.patch('/staff/settings', { tax: { prices: 'gross' } });
    const person = await buyer({ country: 'DE' });
    const id = await buys(person);
    await product.staff.patch('/staff/settings', { tax: { prices: 'net' } });
    const text = await pdfText(person, id);
    expect(text).toMatch(/Betrag inkl\. USt\. \(EUR\).*100,00.*29,99.*Summe netto 109,24.*20,75.*129,99/);
    for (const format of ['ubl', 'xrechnung']) {
      const ask = await asker(person, id, format);
      expect(await ask('string(//TaxExclusiveAmount)')).toBe('109.24');
      expect(await ask('string(//TaxInclusiveAmount)')).toBe('129.99');
      expect(Number(await ask('sum(//InvoiceLine/LineExtensionAmount)'))).toBeCloseTo(109.24, 6);
      expect(await ask('string(//InvoiceLine/Item/Name)')).toBe('Hours (2.5 × 40.00)');
    }
  }, 60_000);

  it('says how much of a thing, and what one costs', async () => {
    const person = await buyer({ country: 'DE' });
    const id = await buys(person);
    expect(await pdfText(person, id)).toMatch(/Hours 100,00 2,5 × 40,00/);
    const ask = await asker(person, id, 'ubl');
    expect(await ask('string(//InvoicedQuantity)')).toBe('2.5');
    expect(await ask('string(//PriceAmount)')).toBe('40.00');
  }, 60_000);
});

describe('tax that turns out to be none', () => {
  /** What the report has as reverse charged, and how far it is from the ledger. */
  async function reversed() {
    const now = product.clock.now();
    const quarter = `${now.getUTCFullYear()}-Q${Math.floor(now.getUTCMonth() / 3) + 1}`;
    const { data } = (await product.staff.get(`/staff/tax/report?quarter=${quarter}`)).body;
    const rows = data.rows.filter((row: Record<string, string>) => row.treatment === 'reverse_charge');
    for (const row of rows) expect(row).toMatchObject({ country: 'FR', rate: '0.00', tax_due: '0.00' });
    const taxable = rows.reduce((sum: number, row: { taxable: string }) => sum + Number(row.taxable), 0);
    return { taxable, difference: data.totals[0]?.difference };
  }

  it('is taken back by a credit note that says what is taxed anew, in paper, in codes and in the report', async () => {
    const were = await reversed();
    const person = await buyer({ country: 'FR', tax_id: frenchId });
    const id = await buys(person);
    const before = (await person.get(`/dashboard/invoices/${id}`)).body.data.invoice;
    expect(before).toMatchObject({ tax: '24.70', total: '154.69' });
    const refund = { amount: '15.47', reason: 'A part', method: 'credit' };
    expect((await product.staff.post(`/staff/invoices/${id}/refund`, refund)).status).toBe(200);
    const valid = { tax_id_state: 'valid', consultation_number: 'by phone' };
    await product.staff.patch(`/staff/organizations/${person.organizationId}/tax`, valid);
    await product.periodic('billing.correctTaxes');
    await settled(product);

    const { invoices } = (await person.get('/dashboard/invoices')).body.data;
    const notes = invoices.filter((each: Record<string, unknown>) => each.corrects_invoice_id === id);
    const [note] = notes; // the newest
    expect(notes).toHaveLength(2);
    expect(note).toMatchObject({ kind: 'credit_note', subtotal: '0.00', tax: '-22.23', total: '-22.23' });
    const after = (await person.get(`/dashboard/invoices/${id}`)).body.data.invoice;
    expect(after).toMatchObject({ refunded: '37.70', status: 'partially_refunded' });

    const text = await pdfText(person, note.id);
    expect(text).toMatch(/Credit note .*VAT 19\.00 % \(DE\) -116\.99/);
    expect(text).toMatch(/reverse charge 116\.99/);
    expect(text).toMatch(/Reverse charge: VAT is to be accounted for by the recipient/);
    expect(text).toMatch(/-22\.23/);
    const ask = await asker(person, note.id, 'ubl');
    const group = (nth: number, what: string) => ask(`string((//TaxSubtotal)[${nth}]/${what})`);
    expect(await group(1, '*[local-name()="TaxCategory"]/*[local-name()="ID"]')).toBe('S');
    expect(await group(1, '*[local-name()="TaxableAmount"]')).toBe('116.99');
    expect(await group(1, '*[local-name()="TaxAmount"]')).toBe('22.23');
    expect(await group(2, '*[local-name()="TaxCategory"]/*[local-name()="ID"]')).toBe('AE');
    expect(await group(2, '*[local-name()="TaxableAmount"]')).toBe('-116.99');
    expect(await ask('string(//TaxInclusiveAmount)')).toBe('22.23');
    expect(Number(await ask('sum(//CreditNoteLine/LineExtensionAmount)'))).toBe(0);
    for (const format of formats) await asker(person, note.id, format);

    // What is given back after that is of what is reverse charged.
    await product.staff.post(`/staff/invoices/${id}/refund`, { ...refund, amount: '16.99' });
    const now = await reversed();
    expect(now.difference).toBe('0.00');
    // What stands of 129.99 after two refunds, of which one came before and had tax in it.
    expect(now.taxable - were.taxable).toBeCloseTo(100, 6);
  }, 120_000);
});
