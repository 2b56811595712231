import {
  type Permission,
  possibleActions,
  type ReasonAgainst,
  reasonAgainstRole,
} from '../platform/http/index.ts';
import { dayOf, fail } from '../platform/index.ts';
import { isByHand } from './kinds/kind.ts';
import { kindOf } from './kinds/table.ts';

/** States of a service and what may be done in each: the one table that enforces it and that customers see. */
export const serviceStatuses = ['pending', 'active', 'suspended', 'cancelled', 'terminated'] as const;

export type ServiceStatus = (typeof serviceStatuses)[number];

interface StaffRule {
  /** In words: "Renewing it". */
  doing: string;
  from: readonly ServiceStatus[];
  /** State afterwards; absent: the service stays what it is. */
  to?: ServiceStatus;
}

interface Rule extends StaffRule {
  /** What its route asks of whoever does it. */
  permission: Permission;
  /** Whether it is for services that will end because their customer cancelled them; absent: for both. */
  ending?: 'no' | 'only';
  /** Only while the period that runs is paid; of what is not delivered none runs. */
  paid?: true;
  /** Not while a room is at work on its delivery. */
  undelivered?: true;
  /** Only for services of this kind. */
  type?: 'vps';
}

/** What its customer does. */
const rules = {
  renew: { permission: 'billing.pay', doing: 'Renewing it', from: ['active', 'suspended'], ending: 'no' },
  upgrade: { permission: 'billing.pay', doing: 'Changing it', from: ['active'], ending: 'no', paid: true },
  upgrade_vps: {
    permission: 'billing.pay',
    doing: 'Changing its size',
    from: ['active'],
    ending: 'no',
    paid: true,
    type: 'vps',
  },
  cancel: {
    permission: 'service.cancel',
    doing: 'Cancelling it',
    from: ['pending', 'active', 'suspended'],
    undelivered: true,
  },
  revoke_cancel: {
    permission: 'service.cancel',
    doing: 'Taking its cancellation back',
    from: ['active', 'suspended'],
    ending: 'only',
  },
  // Once it is due the calendar is at work, and would begin anew with each change of mind.
  auto_renew: {
    permission: 'billing.pay',
    doing: 'Changing auto_renew',
    from: ['pending', 'active', 'suspended'],
    paid: true,
  },
  move: {
    permission: 'organization.manage',
    doing: 'Moving it to another organization',
    from: ['active'],
    ending: 'no',
    paid: true,
  },
  note: { permission: 'service.manage', doing: 'Changing its note', from: serviceStatuses },
} as const satisfies Record<string, Rule>;

/** What staff and the calendar do. */
const staffRules = {
  suspend: { doing: 'Suspending it', from: ['active'], to: 'suspended' },
  unsuspend: { doing: 'Taking its suspension back', from: ['suspended'], to: 'active' },
  terminate: { doing: 'Terminating it', from: ['active', 'suspended'], to: 'terminated' },
} as const satisfies Record<string, StaffRule>;

export type StaffAction = keyof typeof staffRules;

export type ServiceAction = keyof typeof rules;

export const serviceActions = Object.keys(rules) as ServiceAction[];

/** What of a service decides what may be done with it. */
export interface Facts {
  moduleId: number;
  onServer: boolean;
  status: ServiceStatus;
  provisioningState: string;
  /** It ends with its period, as its customer asked. */
  cancelled: boolean;
  duedate: string | null;
}

export const refusalCodes = ['conflict', 'not_a_vps', 'permission_denied'] as const;

type Refusal = ReasonAgainst<'conflict' | 'not_a_vps'>;

/** Why an action is not possible `today`, which is `YYYY-MM-DD`; null when it is possible. */
export function reasonAgainst(action: ServiceAction, service: Facts, today: string): Refusal | null {
  const rule: Rule = rules[action];
  const kind = kindOf(service.moduleId, service.onServer);
  if (rule.type !== undefined && kind.type !== rule.type) {
    return { code: 'not_a_vps', message: 'This service is not a VPS' };
  }
  const wrongState = stateAgainst(rule, service);
  if (wrongState !== null) return no(wrongState);
  if (rule.ending === 'no' && service.cancelled) {
    return no(`The service ends on ${service.duedate}, as you asked; take the cancellation back first`);
  }
  if (rule.ending === 'only' && !service.cancelled) {
    return no('The service is not going to end, so there is no cancellation to take back');
  }
  if (rule.paid && service.status !== 'pending' && (service.duedate === null || service.duedate <= today)) {
    return no(`The service was due on ${service.duedate}; pay its renewal first, or cancel it`);
  }
  const isUnderWay =
    service.status === 'pending' && service.provisioningState === 'running' && !isByHand(kind);
  if (rule.undelivered && isUnderWay) {
    return no('The service is being delivered at this moment; try again once it is active');
  }
  return null;
}

function stateAgainst({ from, doing }: StaffRule, { status }: Pick<Facts, 'status'>): string | null {
  if (from.includes(status)) return null;
  return `The service is ${status}. ${doing} is possible when it is ${from.join(' or ')}`;
}

function no(message: string): Refusal {
  return { code: 'conflict', message };
}

/** Throws the reason against an action, unless it is possible. */
export function requireAction(action: ServiceAction, service: Facts, now: Date): void {
  const refusal = reasonAgainst(action, service, dayOf(now));
  if (refusal !== null) throw fail(refusal.code, { message: refusal.message });
}

/** The same for what staff and the calendar do: `conflict` in any other state. */
export function requireStaffAction(action: StaffAction, service: Pick<Facts, 'status'>): void {
  const message = stateAgainst(staffRules[action], service);
  if (message !== null) throw fail('conflict', { message });
}

/** Each action with whether it is possible for somebody who holds `permissions`, and why not (contract §3). */
export function actionsOf(service: Facts, now: Date, permissions: ReadonlySet<string> | null) {
  return possibleActions(
    serviceActions,
    (action) =>
      reasonAgainstRole(permissions, rules[action].permission) ?? reasonAgainst(action, service, dayOf(now)),
  );
}
