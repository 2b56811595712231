import { client } from '../client.ts';
import { listed } from './listed.ts';

export const members = (id: number) =>
  listed(['members', id], (from, signal) =>
    client.get('/dashboard/organizations/{id}/members', {
      path: { id },
      query: { status: 'active', limit: 50, ...from },
      signal,
    }),
  );

export const invitations = (id: number) =>
  listed(['invitations', id], (from, signal) =>
    client.get('/dashboard/organizations/{id}/invitations', {
      path: { id },
      query: { limit: 50, ...from },
      signal,
    }),
  );

export interface ActivityFilter {
  action?: string;
  user_id?: number;
  /** Days of whoever looks, both included: `2026-01-31`. */
  since?: string;
  until?: string;
}

export const activity = (id: number, { since, until, ...filter }: ActivityFilter) =>
  listed(['activity', id, { since, until, ...filter }], (from, signal) =>
    client.get('/dashboard/organizations/{id}/activity', {
      path: { id },
      query: {
        ...filter,
        ...(since && { since: beginOf(since, 0) }),
        ...(until && { until: beginOf(until, 1) }),
        limit: 50,
        ...from,
      },
      signal,
    }),
  );

/** When a day, or the one so many days later, begins by the clock of whoever looks. */
function beginOf(day: string, later: number): string {
  const begin = new Date(`${day}T00:00:00`);
  begin.setDate(begin.getDate() + later);
  return begin.toISOString();
}
