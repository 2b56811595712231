import type { Paper, Untaxed } from './paper.ts';
import { whyUntaxed } from './untaxed.ts';

export const vat = { 'cac:TaxScheme': { 'cbc:ID': 'VAT' } };

/** How EN 16931 calls a treatment (UNTDID 5305), with the reason where there is no tax. */
export function categoryOf(paper: Paper, untaxed: Untaxed | null) {
  if (untaxed === null) {
    const id = Number(paper.taxRate) === 0 ? 'Z' : 'S';
    return { rate: { 'cbc:ID': id, 'cbc:Percent': paper.taxRate }, reason: {} };
  }
  const because = { 'cbc:TaxExemptionReason': whyUntaxed(paper, untaxed) };
  const of = (id: string) => ({ 'cbc:ID': id, 'cbc:Percent': '0' });
  switch (untaxed) {
    case 'reverse_charge':
      return { rate: of('AE'), reason: { 'cbc:TaxExemptionReasonCode': 'VATEX-EU-AE', ...because } };
    case 'exempt':
      return { rate: of('E'), reason: because };
    case 'outside':
      // Not at all subject to VAT, so not even at a rate of nothing.
      return {
        rate: { 'cbc:ID': 'O' },
        reason: { 'cbc:TaxExemptionReasonCode': 'VATEX-EU-O', ...because },
      };
  }
}

/** What of a document falls to each category, and the tax on it, in decimals. */
export function categoriesOf(paper: Paper) {
  const groups = Map.groupBy(paper.lines, ({ untaxed }) => untaxed);
  return [...groups].map(([untaxed, lines]) => ({
    category: categoryOf(paper, untaxed),
    taxable: sumOf(lines.map(({ net }) => net)),
    tax: untaxed === null ? paper.tax : sumOf([paper.tax, `-${paper.tax}`.replace(/^--/, '')]),
  }));
}

/** Decimals of the same digits, added up exactly. */
function sumOf(decimals: readonly string[]): string {
  const digits = decimals[0]?.split('.')[1]?.length ?? 0;
  const sum = decimals.reduce((total, decimal) => total + BigInt(decimal.replace('.', '')), 0n);
  const text = String(sum < 0n ? -sum : sum).padStart(digits + 1, '0');
  const point = text.length - digits;
  return `${sum < 0n ? '-' : ''}${text.slice(0, point)}${digits === 0 ? '' : `.${text.slice(point)}`}`;
}
