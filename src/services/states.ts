import { fail } from '../platform/index.ts';

/** States of a service and what may be done in each: the one table that enforces it and that people see. */
export const serviceStatuses = ['pending', 'active', 'suspended', 'cancelled', 'terminated'] as const;

export type ServiceStatus = (typeof serviceStatuses)[number];

interface Rule {
  /** In words: "Renewing it". */
  doing: string;
  from: readonly ServiceStatus[];
  /** State afterwards; absent: the service stays what it is. */
  to?: ServiceStatus;
  /** Whether it is for staff and the calendar alone. */
  isStaffs?: true;
}

const rules = {
  suspend: { doing: 'Suspending it', from: ['active'], to: 'suspended', isStaffs: true },
  unsuspend: {
    doing: 'Taking its suspension back',
    from: ['suspended'],
    to: 'active',
    isStaffs: true,
  },
  terminate: {
    doing: 'Terminating it',
    from: ['active', 'suspended'],
    to: 'terminated',
    isStaffs: true,
  },
} as const satisfies Record<string, Rule>;

export type ServiceAction = keyof typeof rules;

/** What of a service decides what may be done with it. */
export interface Facts {
  status: ServiceStatus;
}

/** Why an action is not possible right now, in words; null when it is possible. */
export function reasonAgainst(action: ServiceAction, { status }: Facts): string | null {
  const rule: Rule = rules[action];
  if (rule.from.includes(status)) return null;
  return `The service is ${status}. ${rule.doing} is possible when it is ${rule.from.join(' or ')}`;
}

/** Throws `conflict` with the reason, unless the action is possible. */
export function requireAction(action: ServiceAction, service: Facts): void {
  const message = reasonAgainst(action, service);
  if (message !== null) throw fail('conflict', { message });
}
