import { useState } from 'react';
import { draftName } from './drafts.ts';

/**
 * What somebody has written and not sent, larger than a form: kept with the tab for this person and organization until it is null,
 * as drafts of forms are. What was kept by another version of this page is forgotten.
 */
export function useKept<Kept>(name: string): [Kept | null, (next: Kept | null) => void] {
  const [kept, setKept] = useState<Kept | null>(() => readKept<Kept>(name));
  return [
    kept,
    (next) => {
      setKept(next);
      const key = draftName(name);
      if (key === null) return;
      try {
        if (next === null) sessionStorage.removeItem(key);
        else sessionStorage.setItem(key, JSON.stringify(next));
      } catch {
        // A tab may keep a few megabytes: it stays until the page is left.
      }
    },
  ];
}

function readKept<Kept>(name: string): Kept | null {
  const key = draftName(name);
  const text = key === null ? null : sessionStorage.getItem(key);
  try {
    return text === null ? null : (JSON.parse(text) as Kept);
  } catch {
    return null;
  }
}
