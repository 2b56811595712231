import { remainder } from './reference.ts';

/** Whether an IBAN's check digits are right (ISO 13616). */
export function isIban(iban: string): boolean {
  return /^[A-Z]{2}\d{2}[A-Z0-9]{10,30}$/.test(iban) && remainder(iban.slice(4) + iban.slice(0, 4)) === 1;
}
