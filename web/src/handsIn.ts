import { type Done, takeHands } from './data/hands.ts';

const touched = 'a, button, input, select, summary';

/**
 * Remembers what somebody has begun to do in what the server has painted, and returns how they go on in what is drawn in its
 * place: where the focus is, what they have typed, what they have clicked and nothing has answered.
 */
export function handsIn(place: HTMLElement): () => void {
  const before = [...place.querySelectorAll<HTMLElement>(touched)];
  const focused = before.indexOf(document.activeElement as HTMLElement);
  const done = takeHands();
  return () => {
    const after = [...place.querySelectorAll<HTMLElement>(touched)];
    for (const [nth, one] of before.entries()) {
      const same = after[nth];
      if (same?.localName === one.localName) goOn(one, same);
    }
    after[focused]?.focus({ preventScroll: true });
    for (const each of done) doAgain(each, before, after);
  };
}

function doAgain(each: Done, before: readonly Element[], after: readonly HTMLElement[]): void {
  if ('pressed' in each) window.dispatchEvent(new KeyboardEvent(each.pressed.type, each.pressed));
  else after[before.indexOf(each.clicked)]?.click();
}

function goOn(before: HTMLElement, after: HTMLElement): void {
  if (before instanceof HTMLInputElement && before.checked && after instanceof HTMLInputElement)
    after.click();
  else if (hasValue(before) && hasValue(after) && before.value !== after.value) {
    // As by hand: what a script sets itself is not noticed by what draws the page.
    const { set } = Object.getOwnPropertyDescriptor(Object.getPrototypeOf(after), 'value') ?? {};
    set?.call(after, before.value);
    after.dispatchEvent(new Event('input', { bubbles: true }));
    after.dispatchEvent(new Event('change', { bubbles: true }));
  }
}

const hasValue = (one: HTMLElement): one is HTMLInputElement | HTMLSelectElement =>
  one instanceof HTMLInputElement || one instanceof HTMLSelectElement;
