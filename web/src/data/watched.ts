import { useEffect, useRef, useState } from 'react';
import { chosenOrganization } from './organization.ts';

/**
 * Hears what is told to those alone who look at something, `vps:7`: what is measured is no event of the organization. Only the page
 * that is in view holds this stream, beside the one of all tabs. `told` does by the name of each event what follows from it.
 * Tells whether it is open.
 */
export function useWatched(what: string | null, told: Readonly<Record<string, () => void>>): boolean {
  const [isOpen, setOpen] = useState(false);
  const newest = useRef(told);
  newest.current = told;
  useEffect(() => {
    if (what === null) return;
    let source: EventSource | null = null;
    const turn = () => {
      if (document.hidden) {
        source?.close();
        source = null;
        setOpen(false);
        return;
      }
      if (source !== null) return;
      source = new EventSource(`/api/dashboard/events?organization_id=${chosenOrganization()}&watch=${what}`);
      source.onopen = () => setOpen(true);
      source.onerror = () => setOpen(false);
      for (const name of Object.keys(newest.current))
        source.addEventListener(name, () => newest.current[name]?.());
    };
    turn();
    document.addEventListener('visibilitychange', turn);
    return () => {
      document.removeEventListener('visibilitychange', turn);
      source?.close();
    };
  }, [what]);
  return isOpen;
}
