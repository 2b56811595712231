/**
 * Where the European Union's law on value added tax is in force, by ISO 3166-1, with the letters that VAT ids begin
 * with there. Greece writes its own language's letters; Monaco is taxed as a part of France.
 */
const prefixes: Readonly<Record<string, string>> = {
  AT: 'AT',
  BE: 'BE',
  BG: 'BG',
  CY: 'CY',
  CZ: 'CZ',
  DE: 'DE',
  DK: 'DK',
  EE: 'EE',
  ES: 'ES',
  FI: 'FI',
  FR: 'FR',
  GR: 'EL',
  HR: 'HR',
  HU: 'HU',
  IE: 'IE',
  IT: 'IT',
  LT: 'LT',
  LU: 'LU',
  LV: 'LV',
  MC: 'FR',
  MT: 'MT',
  NL: 'NL',
  PL: 'PL',
  PT: 'PT',
  RO: 'RO',
  SE: 'SE',
  SI: 'SI',
  SK: 'SK',
};

/** Where it is in force. */
export const unionCountries: readonly string[] = Object.keys(prefixes);

/** The letters in front of a VAT id of that country; null outside the European Union. */
export function euVatPrefix(country: string): string | null {
  return prefixes[country] ?? null;
}

/** Whose tax it is: Monaco's is France's. */
export function taxCountry(country: string): string {
  return country === 'MC' ? 'FR' : country;
}

/** Whether that country's value added tax is the European Union's. */
export function isInUnion(country: string): boolean {
  return country in prefixes;
}
