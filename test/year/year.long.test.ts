import { expect, it } from 'vitest';
import { playYear } from './year.ts';

const setting = (name: string, otherwise: number) =>
  Number(process.env[`INNKEEPER_YEAR_${name}`] ?? otherwise);
const seed = setting('SEED', 1);
/** With 300 customers and 12 months it is the whole year, which takes long. */
const customers = setting('CUSTOMERS', 4);
const months = setting('MONTHS', 1.5);

it(`${months} months of a company with ${customers} customers leave nothing wrong (seed ${seed})`, async () => {
  expect(await playYear({ seed, customers, months })).toEqual([]);
}, 3_600_000);
