import { useQueryClient } from '@tanstack/react-query';
import { useEffect, useState } from 'react';
import { chosenOrganization } from './organization.ts';

/**
 * Has what a machine uses read anew as it is measured, and its screen as it changes, for as long as somebody looks. Only the
 * page that is in view holds this stream, beside the one of all tabs: what is measured is no event of the organization.
 * Tells whether it is open.
 */
export function useMeasured(id: number): boolean {
  const queries = useQueryClient();
  const [isOpen, setOpen] = useState(false);
  useEffect(() => {
    let source: EventSource | null = null;
    const turn = () => {
      if (document.hidden) {
        source?.close();
        source = null;
        setOpen(false);
        return;
      }
      if (source !== null) return;
      source = new EventSource(
        `/api/dashboard/events?organization_id=${chosenOrganization()}&watch=vps:${id}`,
      );
      source.onopen = () => setOpen(true);
      source.onerror = () => setOpen(false);
      source.addEventListener('vps.screen', () => {
        void queries.invalidateQueries({ queryKey: ['screens', id] });
      });
      source.addEventListener('vps.sample', () => {
        void queries.invalidateQueries({ queryKey: ['vps', id], exact: true });
        void queries.invalidateQueries({ queryKey: ['vps', id, 'charts', 'hour'] });
      });
    };
    turn();
    document.addEventListener('visibilitychange', turn);
    return () => {
      document.removeEventListener('visibilitychange', turn);
      source?.close();
    };
  }, [id, queries]);
  return isOpen;
}
