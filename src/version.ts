import { readFileSync } from 'node:fs';

/** This version of the product, as `package.json` has it. */
export const { version } = JSON.parse(readFileSync(new URL('../package.json', import.meta.url), 'utf8')) as {
  version: string;
};
