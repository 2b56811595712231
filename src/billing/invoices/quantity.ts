/** How much of something a line is for, with up to three digits after the point: `2.5` ↔ 2500. */

const form = /^(\d{1,6})(?:\.(\d{1,3}))?$/;

/** Thousandths; null for what is no quantity, or none at all. */
export function parseQuantity(text: string): number | null {
  const match = form.exec(text);
  if (match === null) return null;
  const thousandths = Number(`${match[1]}${(match[2] ?? '').padEnd(3, '0')}`);
  return thousandths === 0 ? null : thousandths;
}

/** The shortest way to write it: `1`, `2.5`. */
export function formatQuantity(thousandths: number): string {
  const fraction = String(thousandths % 1_000)
    .padStart(3, '0')
    .replace(/0+$/, '');
  const whole = String(Math.floor(thousandths / 1_000));
  return fraction === '' ? whole : `${whole}.${fraction}`;
}

/** What so much of something costs, rounded half up to the minor unit; null for more than can be counted. */
export function priceOfQuantity(thousandths: number, unitMinor: number): number | null {
  const minor = Number((BigInt(thousandths) * BigInt(unitMinor) + 500n) / 1_000n);
  return Number.isSafeInteger(minor) ? minor : null;
}
