import { useState } from 'react';
import { UnreachableError } from '../../../client/index.ts';

interface Wanted<Part> {
  /** Null until it is there. */
  part: Part | null;
  /** Why it is not there; gone with the next try. */
  error: unknown;
  want: () => void;
}

/**
 * A part of a page whose script is loaded when somebody wants it. React's own `lazy` throws what fails at the whole page,
 * and what was typed there is gone; and it never tries again. Here the page stays, says it, and each want is a new try.
 */
export function useWanted<Part>(load: () => Promise<Part>): Wanted<Part> {
  const [found, setFound] = useState<Omit<Wanted<Part>, 'want'>>({ part: null, error: null });
  const want = () =>
    void load().then(
      (part) => setFound({ part, error: null }),
      // Of a version that is gone, or of nobody who answers: the browser does not say which.
      () => setFound({ part: null, error: new UnreachableError(null) }),
    );
  return { ...found, want };
}
