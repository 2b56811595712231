import type { Permission, ReasonAgainst } from '../platform/http/index.ts';

/** States of a customer's server and what may be done in each: the one table that enforces it and that customers see. */
export const dedicatedStates = [
  ...(['creating', 'running', 'stopped', 'starting', 'stopping', 'restarting'] as const),
  ...(['suspended', 'error', 'returning', 'deleting'] as const),
] as const;

export type DedicatedState = (typeof dedicatedStates)[number];

interface Rule {
  /** What its route asks of whoever does it. */
  permission: Permission;
  /** States it may begin in. */
  from: readonly DedicatedState[];
  /** State while it runs. */
  during: DedicatedState;
}

const rules = {
  start: { permission: 'dedicated.power', from: ['stopped', 'error'], during: 'starting' },
  stop: { permission: 'dedicated.power', from: ['running', 'error'], during: 'stopping' },
  restart: { permission: 'dedicated.power', from: ['running', 'error'], during: 'restarting' },
} as const satisfies Record<string, Rule>;

export type DedicatedAction = keyof typeof rules;

export const dedicatedActions = Object.keys(rules) as DedicatedAction[];

export const refusalCodes = ['locked', 'action_not_allowed', 'permission_denied'] as const;

/** What of a service and its server decides what it is, and what may be done with it. */
export interface Facts {
  serviceStatus: string;
  /** Null: it has no server, as before one is held, or after it ended. */
  server: {
    state: string;
    power: 'on' | 'off' | null;
    /** Whether anybody knows how its power is switched. */
    canSwitch: boolean;
    /** What is done with its power right now, by whomever. */
    switching: DedicatedAction | null;
  } | null;
  /** Command of the action under way; null when there is none. */
  lockedBy: string | null;
}

export function ruleOf(action: DedicatedAction): Rule {
  return rules[action];
}

/** What a server is to whoever has it. Of one whose BMC was never heard nobody knows whether it is on: `error`. */
export function stateOf({ serviceStatus, server }: Facts): DedicatedState {
  if (serviceStatus === 'terminated' || serviceStatus === 'cancelled')
    return server === null ? 'deleting' : 'returning';
  if (server === null || server.state === 'held') return 'creating';
  if (server.state === 'returning') return 'returning';
  if (serviceStatus === 'suspended') return 'suspended';
  if (server.switching !== null) return rules[server.switching].during;
  if (server.power === null) return 'error';
  return server.power === 'on' ? 'running' : 'stopped';
}

type Refusal = ReasonAgainst<'locked' | 'action_not_allowed'>;

/** Why an action is not possible right now; null when it is possible. */
export function reasonAgainst(action: DedicatedAction, facts: Facts): Refusal | null {
  const { serviceStatus, lockedBy, server } = facts;
  if (serviceStatus !== 'active') return notAllowed(`The service is ${serviceStatus}`);
  const underWay = lockedBy ?? server?.switching ?? null;
  if (underWay !== null)
    return { code: 'locked', message: `The action ${underWay} is still running on this server` };
  if (server?.canSwitch === false)
    return notAllowed('The power of this server cannot be switched from here: ask our staff in a ticket');
  const state = stateOf(facts);
  const { from } = ruleOf(action);
  if (from.includes(state)) return null;
  return notAllowed(`The server is ${state}; ${action} is possible when it is ${from.join(' or ')}`);
}

function notAllowed(message: string): Refusal {
  return { code: 'action_not_allowed', message };
}
