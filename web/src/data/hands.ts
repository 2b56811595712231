/** What somebody did before there was anything to do it: a key that was pressed, or what was clicked. */
export type Done = { pressed: KeyboardEvent } | { clicked: Element };

let done: Done[] = [];
let letGo = () => {};

/**
 * Remembers what is done in what the server has painted, until somebody takes it. Links lead on without any script, and what is
 * typed stands in its field.
 */
export function keepHands(): void {
  const click = ({ target }: Event) => {
    const clicked = target instanceof Element ? target.closest('button') : null;
    if (clicked !== null) done.push({ clicked });
  };
  const press = (event: KeyboardEvent) => {
    if (!(event.ctrlKey || event.metaKey) || event.key.toLowerCase() !== 'k') return;
    // Browsers search by these keys.
    event.preventDefault();
    done.push({ pressed: event });
  };
  addEventListener('click', click, true);
  addEventListener('keydown', press, true);
  letGo = () => {
    removeEventListener('click', click, true);
    removeEventListener('keydown', press, true);
  };
}

/** All of it in its order; from here on it is for whoever draws the page. */
export function takeHands(): readonly Done[] {
  letGo();
  const taken = done;
  done = [];
  return taken;
}
