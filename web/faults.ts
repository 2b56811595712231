/** What is wrong with a page as somebody sees it: what cannot be read, rules of accessibility, what colours alone say. */
import { readFileSync } from 'node:fs';
import { createRequire } from 'node:module';
import path from 'node:path';
import type { Page } from 'playwright-core';
import { expect } from 'vitest';

const script = (name: string) => readFileSync(path.join(import.meta.dirname, name), 'utf8');
const layoutFaults = script('layoutFaults.js');
const forcedFaults = script('forcedFaults.js');
const axe = readFileSync(createRequire(import.meta.url).resolve('axe-core/axe.min.js'), 'utf8');
export const allRules = { type: 'tag', values: ['wcag2a', 'wcag2aa', 'wcag21a', 'wcag21aa', 'wcag22aa'] };
/** Those of which another theme can break what one keeps. */
export const rulesOfColour = { type: 'rule', values: ['color-contrast', 'link-in-text-block'] };

/**
 * What is shown to those who enlarge a page twice, which is half as wide and half as high for it, and whose colours are their
 * own: light or dark, nothing of ours is left.
 */
export async function looksEnlarged(page: Page): Promise<string[]> {
  const found = new Set<string>();
  await page.setViewportSize({ width: 720, height: 450 });
  for (const fault of await layoutAt(page)) found.add(`enlarged: ${fault}`);
  for (const colorScheme of ['light', 'dark'] as const) {
    await page.emulateMedia({ colorScheme, forcedColors: 'active' });
    for (const fault of (await page.evaluate(forcedFaults)) as string[])
      found.add(`${colorScheme}, forced: ${fault}`);
  }
  for (const fault of await broken(page, allRules)) found.add(`enlarged, forced: ${fault}`);
  // Places stand beside the page here, and leave little for it.
  await page.setViewportSize({ width: 1024, height: 768 });
  for (const fault of await layoutAt(page)) found.add(`1024: ${fault}`);
  for (const fault of (await page.evaluate(forcedFaults)) as string[]) found.add(`1024, forced: ${fault}`);
  return [...found];
}

/** What lasts: a page that becomes narrower is drawn in more than one step. */
export async function layoutAt(page: Page): Promise<string[]> {
  let faults: string[] = [];
  await expect
    .poll(
      async () => {
        faults = (await page.evaluate(layoutFaults)) as string[];
        return faults.length;
      },
      { timeout: 1_000 },
    )
    .toBe(0)
    .catch(() => undefined);
  return faults;
}

export async function broken(page: Page, runOnly: object): Promise<string[]> {
  if (!(await page.evaluate('"axe" in window'))) await page.evaluate(axe);
  return (await page.evaluate(
    `axe.run(document, { runOnly: ${JSON.stringify(runOnly)}, resultTypes: ['violations'] }).then(({ violations }) =>
      violations.flatMap(({ id, nodes }) => nodes.map(({ target }) => id + ' at ' + target.join(' '))))`,
  )) as string[];
}
