import { invoiceOfReference } from '../documents/reference.ts';

/** What in the words of a payment may name an invoice. */
export interface References {
  /** Ids of invoices, as they stand in the text or in a reference of ISO 11649. */
  ids: number[];
  /** Words that may be the number of an invoice. */
  numbers: string[];
}

/** More in one text is no reference but a list, or a game. */
const most = 200;

/** Looks for references in what a payer wrote, who may have parted them by spaces or left out what is around them. */
export function referencesIn(text: string): References {
  const ids = new Set<number>();
  const plain = text.toUpperCase();
  const joined = plain.replace(/[^0-9A-Z]+/g, '');
  for (const id of creditorReferencesIn(joined)) ids.add(id);
  // As printed, and in groups of digits.
  for (const [digits] of plain.matchAll(/\d{4,16}/g)) addId(ids, digits);
  for (const [digits] of plain.matchAll(/\d{1,8}(?:[ .-]\d{1,8}){1,7}/g))
    addId(ids, digits.replace(/\D/g, ''));
  const words = plain.split(/[\s,;:()]+/).filter((word) => /\d/.test(word) && word.length <= 40);
  return { ids: [...ids].slice(0, most), numbers: [...new Set(words)].slice(0, most) };
}

function addId(ids: Set<number>, digits: string): void {
  const id = Number(digits);
  if (digits.length <= 16 && Number.isSafeInteger(id) && id > 0) ids.add(id);
}

/** Invoices of the references that are sound: `RF`, two check digits, and what they check; where they end, the check tells. */
function creditorReferencesIn(joined: string): number[] {
  const found: number[] = [];
  for (const { index } of joined.matchAll(/RF\d\d/g)) {
    for (let length = 1; length <= 21 && found.length < most; length += 1) {
      const reference = joined.slice(index, index + 4 + length);
      if (reference.length < 4 + length) break;
      const id = invoiceOfReference(reference);
      if (id !== null) found.push(id);
    }
  }
  return found;
}
