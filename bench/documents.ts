import type { Paper } from '../src/billing/documents/paper.ts';
import { drawPdf } from '../src/billing/documents/pdf.ts';
import { nowMs, spreadOf } from './measure.ts';
import type { Figure } from './table.ts';

export interface DocumentsOptions {
  rounds: number;
  /** Documents of a round. */
  documents: number;
}

/** Invoices as most are: a few lines, one page, with tax and a code to pay by. */
export function samplePaper(nth: number): Paper {
  return {
    kind: 'invoice',
    invoiceId: 4_503_599_627_370_000 + nth,
    number: `2026-${String(nth).padStart(6, '0')}`,
    date: '2026-01-31',
    due: '2026-02-03',
    currency: 'EUR',
    language: nth % 2 === 0 ? 'en' : 'de',
    seller: {
      name: 'Example Hosting GmbH',
      address_line1: 'Hauptstraße 1',
      postal_code: '10115',
      city: 'Berlin',
      country: 'DE',
      register: 'Amtsgericht Charlottenburg HRB 1234',
      tax_id: null,
      vat_id: 'DE136695976',
      contact: 'Billing',
      email: 'billing@hosting.example',
      phone: '+49 30 1234567',
      website: 'hosting.example',
      bank: 'Example Bank',
      iban: 'DE75512108001245126199',
      bic: 'SOGEDEFF',
      colour: '#1b4965',
    },
    buyer: {
      name: `Customer ${nth}`,
      address_line1: 'Neckarweg 7',
      postal_code: '70173',
      city: 'Stuttgart',
      country: 'DE',
    },
    corrects: null,
    reason: null,
    note: null,
    lines: Array.from({ length: 5 }, (_, at) => ({
      description: `VPS, web${at}.example.com, monthly`,
      quantity: null,
      unitPrice: '7.00',
      price: '7.00',
      setupFee: '0.00',
      discount: '0.00',
      net: '7.00',
      untaxed: null,
    })),
    discount: '0.00',
    net: '35.00',
    tax: '6.65',
    taxRate: '19.00',
    taxCountry: 'DE',
    taxIncluded: false,
    untaxed: null,
    exemptReason: null,
    total: '41.65',
    paidOn: null,
    payable: '41.65',
  };
}

/** PDFs that one thread draws one after another, without reading or keeping them. */
export async function measureDocuments({ rounds, documents }: DocumentsOptions): Promise<Figure[]> {
  const perSecond: number[] = [];
  const cpuMs: number[] = [];
  let bytes = 0;
  await drawPdf(samplePaper(0)); // the fonts are read once
  for (let round = 0; round < rounds; round += 1) {
    const before = process.cpuUsage();
    const began = nowMs();
    for (let nth = 1; nth <= documents; nth += 1) bytes = (await drawPdf(samplePaper(nth))).length;
    perSecond.push((documents * 1_000) / (nowMs() - began));
    const { user, system } = process.cpuUsage(before);
    cpuMs.push((user + system) / 1_000 / documents);
  }
  return [
    {
      name: 'Invoices drawn as PDF/A-3',
      against: 'nothing',
      value: spreadOf(perSecond),
      unit: '/s',
      target: { atLeast: 10 },
      amounts: `one core; ${spreadOf(cpuMs).median.toFixed(0)} ms of CPU and ${Math.round(bytes / 1024)} KiB each`,
      limit: 'subsetting two fonts for each document',
    },
  ];
}
