/** Electronic invoices: what they carry, that programs read it, and what they need. */
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { samplePaper } from '../../../bench/documents.ts';
import { newInvoice, payByCredit } from '../../../test/invoices.ts';
import { newCustomer, type Person } from '../../../test/people.ts';
import { startTestProduct, type TestProduct } from '../../../test/product.ts';
import { runProgram } from '../../platform/host/program.ts';
import { type ElectronicFormat, electronicFormats, writeElectronic } from './electronic.ts';
import type { Paper } from './paper.ts';

const dir = mkdtempSync(path.join(tmpdir(), 'innkeeper-electronic-'));
afterAll(() => rmSync(dir, { recursive: true, force: true }));

const formats = Object.keys(electronicFormats) as ElectronicFormat[];
const base = samplePaper(1);
const paper: Paper = {
  ...base,
  buyer: { ...base.buyer, email: 'ap@example.de', routing_id: '04011000-12345-34', order_number: 'PO-17' },
};
const creditNote: Paper = {
  ...paper,
  ...{ kind: 'credit_note', corrects: '2026-000009', reason: 'Outage', payable: '0.00' },
  ...{ net: '-7.00', tax: '-1.33', total: '-8.33' },
  lines: [
    {
      description: 'Back',
      quantity: null,
      unitPrice: '-7.00',
      price: '-7.00',
      setupFee: '0.00',
      discount: '0.00',
      net: '-7.00',
      untaxed: null,
    },
  ],
};

/** It adds what a credit note had taken off. */
const correction: Paper = {
  ...creditNote,
  ...{ kind: 'correction', net: '7.00', tax: '1.33', total: '8.33' },
  lines: creditNote.lines.map((line) => ({ ...line, unitPrice: '7.00', price: '7.00', net: '7.00' })),
};

/** What a path of the XML says, by a program that did not write it. */
async function ask(xml: Buffer, query: string): Promise<string> {
  const file = path.join(dir, 'a.xml');
  writeFileSync(file, xml);
  const names = query.replaceAll(/[A-Za-z]\w+/g, (name) => `*[local-name()="${name}"]`);
  return (await runProgram(['xmllint', '--xpath', `string(//${names})`, file])).stdout.trim();
}

describe('an electronic invoice', () => {
  it.each(formats)(
    'says who, what and how much: %s',
    async (format) => {
      const xml = await writeElectronic(paper, format);
      const isCii = format.endsWith('cii');
      const said = isCii
        ? {
            'ExchangedDocument/ID': paper.number,
            BuyerReference: '04011000-12345-34',
            'BuyerOrderReferencedDocument/IssuerAssignedID': 'PO-17',
            GrandTotalAmount: '41.65',
            DuePayableAmount: '41.65',
            PaymentReference: 'RF364503599627370001',
            IBANID: paper.seller.iban,
            'SellerTradeParty/Name': paper.seller.name,
          }
        : {
            'Invoice/ID': paper.number,
            BuyerReference: '04011000-12345-34',
            'OrderReference/ID': 'PO-17',
            TaxInclusiveAmount: '41.65',
            PayableAmount: '41.65',
            PaymentID: 'RF364503599627370001',
            'PayeeFinancialAccount/ID': paper.seller.iban,
            'AccountingSupplierParty/Party/PartyLegalEntity/RegistrationName': paper.seller.name,
          };
      for (const [where, value] of Object.entries(said)) expect(await ask(xml, where), where).toBe(value);
      const guideline = isCii ? 'GuidelineSpecifiedDocumentContextParameter/ID' : 'CustomizationID';
      expect(await ask(xml, guideline)).toMatch(
        format.startsWith('x') ? /xrechnung_3/ : /^urn:cen.eu:en16931:2017$/,
      );
    },
    60_000,
  );

  it.each(formats)(
    'that takes one back is a positive credit note that names it: %s',
    async (format) => {
      const xml = await writeElectronic(creditNote, format);
      const isCii = format.endsWith('cii');
      const total = isCii ? 'GrandTotalAmount' : 'TaxInclusiveAmount';
      const type = isCii ? 'ExchangedDocument/TypeCode' : 'CreditNoteTypeCode';
      const before = isCii ? 'InvoiceReferencedDocument/IssuerAssignedID' : 'InvoiceDocumentReference/ID';
      expect([await ask(xml, total), await ask(xml, type), await ask(xml, before)]).toEqual([
        '8.33',
        '381',
        '2026-000009',
      ]);
    },
    60_000,
  );

  it.each(formats)(
    'that adds what one had taken off is a corrected invoice that names it, and is paid: %s',
    async (format) => {
      const xml = await writeElectronic(correction, format);
      const isCii = format.endsWith('cii');
      const total = isCii ? 'GrandTotalAmount' : 'TaxInclusiveAmount';
      const type = isCii ? 'ExchangedDocument/TypeCode' : 'InvoiceTypeCode';
      const due = isCii ? 'DuePayableAmount' : 'PayableAmount';
      const before = isCii ? 'InvoiceReferencedDocument/IssuerAssignedID' : 'InvoiceDocumentReference/ID';
      const said: string[] = [];
      for (const query of [total, type, due, before]) said.push(await ask(xml, query));
      expect(said).toEqual(['8.33', '384', '0.00', '2026-000009']);
    },
    60_000,
  );

  it('without tax says why', async () => {
    const without = (why: Paper['untaxed']): Paper => ({
      ...{ ...paper, tax: '0.00', taxRate: '0.00', total: '35.00', payable: '35.00', untaxed: why },
      lines: paper.lines.map((line) => ({ ...line, untaxed: why })),
    });
    const xml = await writeElectronic(without('reverse_charge'), 'ubl');
    expect(await ask(xml, 'TaxSubtotal/TaxCategory/ID')).toBe('AE');
    expect(await ask(xml, 'TaxExemptionReasonCode')).toBe('VATEX-EU-AE');
    const none = await writeElectronic(without('outside'), 'ubl');
    expect(await ask(none, 'TaxSubtotal/TaxCategory/ID')).toBe('O');
  }, 60_000);

  it.each(['cii', 'ubl'] as const)(
    'is XML whatever strangers wrote, and says it: %s',
    async (format) => {
      const hostile =
        '<&>"\' ]]> <!DOCTYPE x [<!ENTITY a SYSTEM "file:///etc/passwd">]>&a;&lt;\u0000\u001b\u202e\ud800 🏠';
      const xml = await writeElectronic(
        {
          ...paper,
          buyer: { ...paper.buyer, name: hostile, address_line1: hostile },
          lines: [
            { ...(paper.lines[0] as Paper['lines'][0]), description: hostile.repeat(100) },
            ...paper.lines.slice(1),
          ],
        },
        format,
      );
      const name =
        format === 'cii'
          ? 'BuyerTradeParty/Name'
          : 'AccountingCustomerParty/Party/PartyLegalEntity/RegistrationName';
      expect(await ask(xml, name)).toContain(
        '<&>"\' ]]> <!DOCTYPE x [<!ENTITY a SYSTEM "file:///etc/passwd">]>&a;&lt;',
      );
    },
    60_000,
  );

  it('is the same bytes for the same paper', async () => {
    expect((await writeElectronic(paper, 'cii')).equals(await writeElectronic(paper, 'cii'))).toBe(true);
  }, 60_000);
});

describe('over HTTP', () => {
  let product: TestProduct;
  let customer: Person;
  beforeAll(async () => {
    product = await startTestProduct();
    customer = await newCustomer(product, { creditMinor: 100_000, country: 'DE' });
  });
  afterAll(() => product.stop());

  const get = async (url: string, person = customer) => {
    const headers = { token: person.key, 'x-organization-id': String(person.organizationId) };
    const response = await fetch(`${product.url}/api/dashboard/invoices/${url}`, { headers });
    const bytes = Buffer.from(await response.arrayBuffer());
    const body = response.ok ? null : JSON.parse(bytes.toString());
    return { status: response.status, type: response.headers.get('content-type'), bytes, body };
  };
  const paid = async () => {
    const id = await newInvoice(product, customer);
    await payByCredit(customer, id);
    return id;
  };

  it('says what is missing for it, and is there once that is set', async () => {
    const early = await get(`${await paid()}/xml?format=cii`);
    expect([early.status, early.body.code]).toEqual([409, 'document_incomplete']);
    expect(early.body.message).toContain("the company's name");
    const { iban: _, ...company } = base.seller;
    expect((await product.staff.patch('/staff/settings', { company })).status).toBe(200);
    const id = await paid();
    const { status, type, bytes } = await get(`${id}/xml?format=cii`);
    expect([status, type]).toEqual([200, 'application/xml']);
    expect(await ask(bytes, 'SellerTradeParty/Name')).toBe(base.seller.name);
    expect((await get(`${id}/xml?format=cii`)).bytes.equals(bytes)).toBe(true);
    const xrechnung = await get(`${id}/xml?format=xrechnung`);
    expect([xrechnung.status, xrechnung.body.message]).toEqual([409, expect.stringContaining('routing id')]);
    expect((await get(`${id}/xml?format=paper`)).status).toBe(400);
  }, 60_000);

  it('is inside the PDF as Factur-X, byte for byte', async () => {
    const id = await paid();
    const { status, bytes } = await get(`${id}/pdf?format=factur-x`);
    expect(status).toBe(200);
    const [file, inside] = [path.join(dir, 'a.pdf'), path.join(dir, 'inside.xml')];
    writeFileSync(file, bytes);
    expect((await runProgram(['qpdf', '--check', file])).stdout).toContain(
      'No syntax or stream encoding errors',
    );
    expect((await runProgram(['pdfdetach', '-list', file])).stdout).toContain('1: factur-x.xml');
    await runProgram(['pdfdetach', '-save', '1', '-o', inside, file]);
    expect(readFileSync(inside).equals((await get(`${id}/xml?format=cii`)).bytes)).toBe(true);
    const text = bytes.toString('latin1');
    expect(text).toContain('<fx:ConformanceLevel>EN 16931</fx:ConformanceLevel>');
    expect(text).toMatch(/pdfaid:part>3</);
    expect((await get(`${id}/pdf?format=factur-x`)).bytes.equals(bytes)).toBe(true);
  }, 60_000);

  it('is not there of what has no number, nor for anybody else', async () => {
    const open = await newInvoice(product, customer);
    expect((await get(`${open}/xml`)).body.message).toContain('a number');
    const other = await newCustomer(product);
    expect((await get(`${open}/xml`, other)).status).toBe(403);
  });
});
