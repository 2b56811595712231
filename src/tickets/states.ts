import { possibleActions, type ReasonAgainst } from '../platform/http/index.ts';
import { fail } from '../platform/index.ts';

/** States of a ticket and what may be done in each: the one table that enforces it and that people see. */
export const ticketStatuses = [
  'open',
  'answered',
  'customer_reply',
  'in_progress',
  'on_hold',
  'closed',
] as const;

export type TicketStatus = (typeof ticketStatuses)[number];

export const priorities = ['low', 'medium', 'high', 'urgent'] as const;

export type Priority = (typeof priorities)[number];

interface StateRule {
  /** Whether the time for a solution runs: it pauses while the customer or somebody else is asked. */
  clock: 'runs' | 'pauses';
  /** What it becomes when its customer writes. */
  customerWrites: TicketStatus;
  /** Staff can choose it. */
  byStaff: boolean;
}

const states: Record<TicketStatus, StateRule> = {
  // Nobody has answered yet, so nothing is new about it.
  open: { clock: 'runs', customerWrites: 'open', byStaff: true },
  answered: { clock: 'pauses', customerWrites: 'customer_reply', byStaff: true },
  customer_reply: { clock: 'runs', customerWrites: 'customer_reply', byStaff: false },
  in_progress: { clock: 'runs', customerWrites: 'customer_reply', byStaff: true },
  on_hold: { clock: 'pauses', customerWrites: 'customer_reply', byStaff: true },
  closed: { clock: 'pauses', customerWrites: 'customer_reply', byStaff: true },
};

/** Those that staff sets. */
export const statusesOfStaff = ticketStatuses.filter((status) => states[status].byStaff);

export function runsIn(status: TicketStatus): boolean {
  return states[status].clock === 'runs';
}

export function afterCustomer(status: TicketStatus): TicketStatus {
  return states[status].customerWrites;
}

const whileOpen: readonly TicketStatus[] = ticketStatuses.filter((status) => status !== 'closed');

const rules = {
  // Also to one that is closed, which opens it again.
  reply: { from: ticketStatuses },
  close: { from: whileOpen },
  change_subject: { from: whileOpen },
} as const satisfies Record<string, { from: readonly TicketStatus[] }>;

export type TicketAction = keyof typeof rules;

export const ticketActions = Object.keys(rules) as TicketAction[];

export const refusalCodes = ['ticket_closed'] as const;

function reasonAgainst(
  action: TicketAction,
  status: TicketStatus,
): ReasonAgainst<(typeof refusalCodes)[number]> | null {
  const from: readonly TicketStatus[] = rules[action].from;
  if (from.includes(status)) return null;
  const message =
    action === 'close'
      ? 'The ticket is closed already'
      : 'The ticket is closed; write a reply, which opens it again, and then change it';
  return { code: 'ticket_closed', message };
}

/** Each action with whether it is possible, and why not (contract §3). */
export function actionsOf(status: TicketStatus) {
  return possibleActions(ticketActions, (action) => reasonAgainst(action, status));
}

/** Throws the reason against an action, unless it is possible. */
export function requireAction(action: TicketAction, status: TicketStatus): void {
  const refusal = reasonAgainst(action, status);
  if (refusal !== null) throw fail(refusal.code, { message: refusal.message });
}
