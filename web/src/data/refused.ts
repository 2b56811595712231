import { useEffect, useRef, useState, useSyncExternalStore } from 'react';

/** A change that was refused while it was shown as done, or after somebody had gone on. */
export interface Refused {
  id: number;
  error: unknown;
  /** On which page it was asked for. */
  where: string;
}

let last = 0;
let late: readonly Refused[] = [];
const watchers = new Set<() => void>();

function keep(next: readonly Refused[]): void {
  late = next;
  for (const watch of watchers) watch();
}

/** What was refused after its page was left: whoever went on believes that it was done. */
export function useLate(): readonly Refused[] {
  return useSyncExternalStore(
    (watch) => {
      watchers.add(watch);
      return () => watchers.delete(watch);
    },
    () => late,
    () => late,
  );
}

/** That one was read; without one, nobody is there any more who asked for any. */
export function forgetLate(read?: Refused): void {
  keep(read === undefined ? [] : late.filter(({ id }) => id !== read.id));
}

/**
 * Refusals of changes that do not keep anybody waiting: several may be under way, and of each it is said, beside the
 * button or, where that is gone, by what stands around every page. A new change takes away what was said before it.
 */
export function useRefused() {
  const [refused, setRefused] = useState<readonly Refused[]>([]);
  const isThere = useRef(false);
  useEffect(() => {
    isThere.current = true;
    return () => {
      isThere.current = false;
    };
  }, []);
  /** Begins a change. What it returns says that it was refused. */
  const begin = () => {
    const where = window.location.pathname;
    setRefused([]);
    return (error: unknown) => {
      const found = { id: ++last, error, where };
      // The page of one thing may have become that of another.
      if (isThere.current && where === window.location.pathname) setRefused((before) => [...before, found]);
      else keep([...late, found]);
    };
  };
  return { refused: refused.filter(({ where }) => where === window.location.pathname), begin };
}
