/** What an invoice asks for and the tax in it. */
interface Taxed {
  total_minor: number;
  tax_minor: number;
  /** Tax that was given back because there was none to pay. */
  tax_corrected_minor: number;
}

/** The tax in the first so many cents that are given back: parts add up to the invoice's tax exactly. */
export function taxWithin(invoice: Taxed, refundedMinor: number): number {
  // After a correction of the tax none is left in what remains.
  if (invoice.total_minor === 0 || invoice.tax_corrected_minor > 0) return 0;
  const total = BigInt(invoice.total_minor);
  return Number((2n * BigInt(invoice.tax_minor) * BigInt(refundedMinor) + total) / (2n * total));
}
