import type { BmcIdentity } from '../contract.ts';

/** What the server is, of how its inventory is printed: of the product, or of its board where nobody filled that in. */
export function fruOf(printed: string): Pick<BmcIdentity, 'maker' | 'model' | 'serial'> {
  const field = (...names: string[]): string | null => {
    for (const name of names) {
      const [, value] = new RegExp(`^ *${name} +: (.*)$`, 'm').exec(printed) ?? [];
      const text = value
        ?.replace(/\p{Cc}/gu, '')
        .trim()
        .slice(0, 100);
      if (text) return text;
    }
    return null;
  };
  return {
    maker: field('Product Manufacturer', 'Board Mfg'),
    model: field('Product Name', 'Board Product'),
    serial: field('Product Serial', 'Board Serial', 'Chassis Serial'),
  };
}
