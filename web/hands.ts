import { setTimeout as pause } from 'node:timers/promises';
import type { BrowserContextOptions, FileChooser, Locator, Page } from 'playwright-core';
import { expect } from 'vitest';

/** How somebody does things on a page: each helper fails where that cannot be done in this way. */
export interface Hands {
  name: string;
  /** The window that they look at. */
  window: BrowserContextOptions;
  /** A button, a link, a line of a menu. */
  press(what: Locator): Promise<void>;
  /** What cannot be done, to learn why. */
  ask(what: Locator): Promise<void>;
  type(where: Locator, text: string): Promise<void>;
  /** One of a list of choices, by its words. */
  choose(where: Locator, words: string): Promise<void>;
  /** One of a few buttons of which one is chosen. */
  pick(radio: Locator): Promise<void>;
  attach(where: Locator, file: { name: string; mimeType: string; buffer: Buffer }): Promise<void>;
  /** A place of the navigation. */
  goTo(page: Page, place: string): Promise<void>;
  /** One of the pages that belong together. */
  turnTo(page: Page, tab: string): Promise<void>;
}

/** So many presses of a key lead past everything that a page has. */
const mostSteps = 150;

/**
 * Where the keyboard is, as somebody sees it: empty when what has the focus is in sight, within the window and not
 * covered, and else what is wrong. A control whose own box is hidden is seen by its label.
 */
const unseen = `(() => {
  const focused = document.activeElement;
  if (focused === null || focused === document.body) return '';
  const name = focused.tagName + ' ' + (focused.getAttribute('aria-label') ?? focused.textContent).trim().slice(0, 40);
  const seen = [focused, ...(focused.labels ?? []), focused.closest('label')].filter(Boolean).some((element) => {
    if (!element.checkVisibility({ opacityProperty: true, visibilityProperty: true })) return false;
    const { left, right, top, bottom } = element.getBoundingClientRect();
    const [from, to] = [Math.max(left, 0), Math.min(right, innerWidth)];
    const [over, under] = [Math.max(top, 0), Math.min(bottom, innerHeight)];
    if (to - from < 1 || under - over < 1) return false;
    return [0.1, 0.5, 0.9].some((across) => [0.1, 0.5, 0.9].some((down) => {
      const at = document.elementFromPoint(from + (to - from) * across, over + (under - over) * down);
      return at !== null && (element.contains(at) || at.contains(element));
    }));
  });
  return seen ? '' : name + ' has the focus and is not in sight';
})()`;

const isFocused = (what: Locator) =>
  what.evaluate((element: unknown) => {
    const { ownerDocument } = element as { ownerDocument: { activeElement: unknown } };
    return ownerDocument.activeElement === element;
  });

/** Goes on with a key until `what` has the focus, looking at each thing on the way. */
async function stepTo(what: Locator, key = 'Tab'): Promise<void> {
  await what.waitFor();
  const page = what.page();
  const met: string[] = [];
  for (let step = 0; step < mostSteps; step += 1) {
    if (await isFocused(what)) return;
    await page.keyboard.press(key);
    // What is scrolled to or faded in is there in a moment.
    await expect.poll(() => page.evaluate(unseen), { timeout: 3_000, interval: 20 }).toBe('');
    met.push(await page.evaluate<string>('document.activeElement.textContent.trim().slice(0, 20)'));
  }
  throw new Error(`the keyboard does not reach ${what}; it met ${met.join(' | ')}`);
}

/** Nothing but a keyboard. */
export const keyboard: Hands = {
  name: 'by keyboard alone',
  window: { viewport: { width: 1280, height: 800 } },
  async press(what) {
    await what.waitFor();
    // In a menu arrows lead from line to line.
    const isLine = (await what.getAttribute('role')) === 'menuitem';
    await stepTo(what, isLine ? 'ArrowDown' : 'Tab');
    await what.page().keyboard.press('Enter');
  },
  ask: (what) => stepTo(what),
  async type(where, text) {
    await stepTo(where);
    await where.page().keyboard.press('Control+A');
    await where.page().keyboard.type(text);
    expect(await where.inputValue()).toBe(text);
  },
  async choose(where, words) {
    await stepTo(where);
    await where.page().keyboard.type(words);
    await expect.poll(() => where.locator('option:checked').innerText()).toBe(words);
  },
  async pick(radio) {
    const page = radio.page();
    await radio.waitFor();
    const name = await radio.getAttribute('name');
    const group = page.locator(`input[type=radio][name="${name}"]`);
    // The keyboard comes to the one that is chosen, or to the first; arrows lead to the others.
    const chosen = group.and(page.locator(':checked'));
    await stepTo((await chosen.count()) > 0 ? chosen : group.first());
    for (let step = 0; step < (await group.count()) && !(await isFocused(radio)); step += 1)
      await page.keyboard.press('ArrowDown');
    if (!(await radio.isChecked())) await page.keyboard.press('Space');
    expect(await radio.isChecked()).toBe(true);
  },
  async attach(where, file) {
    await stepTo(where);
    const chooser = await chooserBy(where.page(), () => where.page().keyboard.press('Enter'));
    await chooser.setFiles(file);
  },
  async goTo(page, place) {
    await this.press(page.getByRole('navigation').first().getByRole('link', { name: place, exact: true }));
  },
  async turnTo(page, tab) {
    await this.press(page.locator('#content').getByRole('link', { name: tab, exact: true }));
  },
};

/**
 * What a press opens to choose files in. A browser hears a moment after it is asked for that choosers are a test's to see; one that
 * was opened before shows nowhere, and it is pressed once more.
 */
async function chooserBy(page: Page, press: () => Promise<void>): Promise<FileChooser> {
  const choosing = page.waitForEvent('filechooser');
  for (let presses = 0; presses < 5; presses += 1) {
    await press();
    const chooser = await Promise.race([choosing, pause(2_000, null)]);
    if (chooser !== null) return chooser;
  }
  return choosing;
}

/** A phone. */
export const touch: Hands = {
  name: 'by touch on a phone',
  window: { viewport: { width: 375, height: 740 }, hasTouch: true, isMobile: true, deviceScaleFactor: 2 },
  async press(what) {
    await what.tap();
  },
  async ask(what) {
    await what.scrollIntoViewIfNeeded();
    const box = await what.boundingBox();
    if (box === null) throw new Error(`there is no ${what} to touch`);
    await what.page().touchscreen.tap(box.x + box.width / 2, box.y + box.height / 2);
  },
  async type(where, text) {
    await where.tap();
    await where.fill('');
    await where.page().keyboard.type(text);
    expect(await where.inputValue()).toBe(text);
  },
  async choose(where, words) {
    // The list that opens is the phone's own.
    await where.tap();
    await where.selectOption({ label: words });
  },
  async pick(radio) {
    await radio.waitFor({ state: 'attached' });
    await radio.page().locator('label').filter({ has: radio }).tap();
    expect(await radio.isChecked()).toBe(true);
  },
  async attach(where, file) {
    const chooser = await chooserBy(where.page(), () => where.tap());
    await chooser.setFiles(file);
  },
  async goTo(page, place) {
    await page.getByRole('button', { name: 'Menu', exact: true }).tap();
    await page.getByRole('navigation').first().getByRole('link', { name: place, exact: true }).tap();
  },
  async turnTo(page, tab) {
    const link = page.locator('#content').getByRole('link', { name: tab, exact: true });
    const choice = page.locator('#content select').filter({ has: page.locator('option', { hasText: tab }) });
    await link.or(choice.first()).first().waitFor();
    if (await link.isVisible()) await link.tap();
    else await this.choose(choice.first(), tab);
  },
};
