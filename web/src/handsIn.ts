const touched = 'a, button, input, select, summary';

/**
 * Remembers what somebody has begun to do in what the server has painted, and returns how they go on in what is drawn in its
 * place: where the focus is, what they have typed.
 */
export function handsIn(place: HTMLElement): () => void {
  const before = [...place.querySelectorAll<HTMLElement>(touched)];
  const focused = before.indexOf(document.activeElement as HTMLElement);
  return () => {
    const after = [...place.querySelectorAll<HTMLElement>(touched)];
    for (const [nth, one] of before.entries()) {
      const same = after[nth];
      if (same?.localName === one.localName) goOn(one, same);
    }
    after[focused]?.focus({ preventScroll: true });
  };
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
