import type { Action } from './actions.ts';

/** Jobs that tell of an action to somebody: mails now; webhooks and live updates read the same entries. */
const readers: Partial<Record<Action, string[]>> = {
  'invoice.created': ['mail.deliver'],
  'invoice.paid': ['mail.deliver'],
  'service.provisioned': ['mail.deliver'],
};

export function readersOf(action: Action): string[] {
  return readers[action] ?? [];
}
