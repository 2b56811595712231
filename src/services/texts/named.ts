import type { Reader } from '../../platform/index.ts';
import { say } from './index.ts';

interface Named {
  product: string;
  hostname: string | null;
}

/** What people call a service. */
export const nameOf = ({ product, hostname }: Named) => hostname ?? product;

/** The same with the product beside the hostname. */
export const wholeNameOf = ({ product, hostname }: Named) =>
  hostname === null ? product : `${product}, ${hostname}`;

const cycles = ['monthly', 'quarterly', 'semiannually', 'annually', 'biennially', 'triennially'] as const;

/** How long a period is, in words: `a month`. */
export function periodFor(reader: Reader, cycle: string): string {
  const known = cycles.find((each) => each === cycle);
  return known === undefined ? cycle : say(reader, `periods.${known}`);
}

/** To the page of the service that a mail is about. */
export const toService = (
  { subject: { id }, data }: { subject: { id: number }; data: Named },
  reader: Reader,
) => ({
  button: say(reader, 'shared.look', { name: nameOf(data) }),
  page: `/services/${id}`,
});
