/**
 * What a customer writes on a transfer so that it finds its invoice: a creditor reference (ISO 11649) that is made of the
 * invoice's id, `RF` and two check digits in front of it. Banks and banking apps check it, so a slip of the pen is
 * noticed before the money moves.
 */
export function referenceOf(invoiceId: number): string {
  const check = 98 - remainder(`${invoiceId}RF00`);
  return `RF${String(check).padStart(2, '0')}${invoiceId}`;
}

/** The invoice that a reference names, written in groups or not; null when it is none of ours or has a slip in it. */
export function invoiceOfReference(text: string): number | null {
  const match = /^RF(\d\d)0*([1-9]\d{0,15})$/.exec(text.replaceAll(/\s/g, '').toUpperCase());
  if (match === null) return null;
  const [, check = '', digits = ''] = match;
  const id = Number(digits);
  return Number.isSafeInteger(id) && remainder(`${digits}RF${check}`) === 1 ? id : null;
}

/** As people read it: `RF18 5390 0754 7034`. */
export function inGroups(text: string): string {
  return text.replaceAll(/.{4}(?=.)/g, '$& ');
}

/** ISO 7064, modulo 97: letters count from A = 10. */
export function remainder(text: string): number {
  const digits = text.replaceAll(/[A-Z]/g, (letter) => String(letter.charCodeAt(0) - 55));
  return Number(BigInt(digits) % 97n);
}
