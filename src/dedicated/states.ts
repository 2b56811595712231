import type { Permission, ReasonAgainst } from '../platform/http/index.ts';

/** States of a customer's server and what may be done in each: the one table that enforces it and that customers see. */
export const dedicatedStates = [
  ...([
    'creating',
    'running',
    'stopped',
    'starting',
    'stopping',
    'restarting',
    'reinstalling',
    'rescue',
  ] as const),
  ...(['suspended', 'error', 'broken', 'returning', 'deleting'] as const),
] as const;

export type DedicatedState = (typeof dedicatedStates)[number];

interface Rule {
  /** What its route asks of whoever does it. */
  permission: Permission;
  /** States it may begin in. */
  from: readonly DedicatedState[];
  /** State while it runs; what has none is no change, and goes on beside one. */
  during?: DedicatedState;
  /** The server has to be in the rescue system. */
  inRescue?: true;
}

const settled = ['running', 'stopped', 'rescue', 'error'] as const;
/** Whoever looks sees a start from its beginning, and why one goes wrong; not what is done with a server that is not theirs yet, or any more. */
const shown = [...settled, 'starting', 'stopping', 'restarting'] as const;

const rules = {
  start: { permission: 'dedicated.power', from: ['stopped', 'error'], during: 'starting' },
  stop: { permission: 'dedicated.power', from: ['running', 'rescue', 'error'], during: 'stopping' },
  restart: { permission: 'dedicated.power', from: ['running', 'rescue', 'error'], during: 'restarting' },
  reinstall: { permission: 'dedicated.manage', from: settled, during: 'reinstalling' },
  // Anew as well, for whoever has lost the password of the one that runs.
  rescue: { permission: 'dedicated.manage', from: settled, during: 'restarting' },
  rescue_off: { permission: 'dedicated.manage', from: settled, during: 'restarting', inRescue: true },
  console: { permission: 'dedicated.manage', from: shown },
} as const satisfies Record<string, Rule>;

export type DedicatedAction = keyof typeof rules;

/** What its BMC is told, and nothing else is done to it. */
export type PowerCommand = 'start' | 'stop' | 'restart';

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
    switching: PowerCommand | null;
    /** What else is done with it right now: all but `move` by its customer. */
    customerWork: 'reinstall' | 'rescue' | 'rescue_off' | 'move' | null;
    /** Whenever it starts, it starts the rescue system. */
    inRescue: boolean;
    /** Staff found that it cannot be used. */
    isOutOfOrder: boolean;
    /** Its serial line is the proof's, which nobody else may read. */
    isProving: boolean;
    /** Its BMC did not answer when it was asked last. */
    isSilent: boolean;
    /** Whether its BMC shows its serial line; null: it was not asked yet. */
    showsLine: boolean | null;
  } | null;
  /** Why what is on its disks does not start; null: nothing is known to be wrong. */
  problem: string | null;
  /** Of a service that has ended: its disks were not all shown to be wiped, and nobody is at that any more. */
  isLeftUnwiped: boolean;
  /** Command of the action under way; null when there is none. */
  lockedBy: string | null;
}

export function ruleOf(action: DedicatedAction): Rule {
  return rules[action];
}

/**
 * What a server is to whoever has it. `error`: its BMC was never heard, so nobody knows whether it is on, or what is on its disks does not start. `broken`: it cannot
 * be used, or could not be wiped. A service that has ended is `returning` until its server has come back, and then `deleting` for good, as a VPS is.
 */
export function stateOf(facts: Facts): DedicatedState {
  const { serviceStatus, server, problem } = facts;
  if (hasEnded(facts)) {
    if (server !== null) return 'returning';
    return facts.isLeftUnwiped ? 'broken' : 'deleting';
  }
  if (server === null) return serviceStatus === 'pending' ? 'creating' : 'broken';
  if (server.state === 'held') return 'creating';
  if (server.state === 'returning') return 'returning';
  if (serviceStatus === 'suspended') return 'suspended';
  const underWay = server.customerWork ?? server.switching;
  // Whoever gets another server has this one until the other is ready.
  if (underWay !== null && underWay !== 'move') return rules[underWay].during;
  if (server.isOutOfOrder) return 'broken';
  if (server.power === null) return 'error';
  if (server.inRescue && server.power === 'on') return 'rescue';
  if (problem !== null) return 'error';
  return server.power === 'on' ? 'running' : 'stopped';
}

function hasEnded({ serviceStatus }: Facts): boolean {
  return serviceStatus === 'terminated' || serviceStatus === 'cancelled';
}

/** Whether whoever has a live service cannot use its server: it is out of order, or was taken away. Also while the service is suspended, whose state says that alone. */
export function isOutOfUse(facts: Facts): boolean {
  const { serviceStatus, server } = facts;
  if (hasEnded(facts)) return false;
  if (server === null) return serviceStatus !== 'pending';
  return server.state === 'rented' && server.isOutOfOrder;
}

/** Why a server is broken and what happens next, for its customer; null: it is not. Of a service that has ended its proof of erasure says so. */
export function wordsOfBroken(facts: Facts): string | null {
  if (hasEnded(facts) || stateOf(facts) !== 'broken') return null;
  const what =
    facts.server === null
      ? 'The server of this service could not be used any more and was taken out of service. Our staff gives the service another one'
      : 'The server is out of order and cannot be used. Our staff puts it right, or gives the service another one with its addresses';
  return `${what}; write us a ticket if you need what is on its disks, or hear nothing`;
}

type Refusal = ReasonAgainst<'locked' | 'action_not_allowed'>;

/** Why an action is not possible right now; null when it is possible. */
export function reasonAgainst(action: DedicatedAction, facts: Facts): Refusal | null {
  const { serviceStatus, lockedBy, server } = facts;
  if (serviceStatus !== 'active') return notAllowed(`The service is ${serviceStatus}`);
  const broken = wordsOfBroken(facts);
  if (broken !== null) return notAllowed(broken);
  if (action === 'console') return againstConsole(facts);
  const underWay = lockedBy ?? server?.customerWork ?? server?.switching ?? null;
  if (underWay !== null)
    return { code: 'locked', message: `The action ${underWay} is still running on this server` };
  if (server?.canSwitch === false)
    return notAllowed('The power of this server cannot be switched from here: ask our staff in a ticket');
  const state = stateOf(facts);
  const { from, inRescue = false } = ruleOf(action);
  if (inRescue && server?.inRescue === false) return notAllowed('The server is not in the rescue system');
  if (from.includes(state)) return null;
  return notAllowed(`The server is ${state}; ${action} is possible when it is ${from.join(' or ')}`);
}

/** Why a service cannot go over to another server right now, for staff; null when it can. */
export function reasonAgainstMove(facts: Facts): Refusal | null {
  const { serviceStatus, lockedBy, server } = facts;
  if (serviceStatus !== 'active') return notAllowed(`The service is ${serviceStatus}`);
  const underWay = lockedBy ?? server?.customerWork ?? server?.switching ?? null;
  if (underWay !== null)
    return { code: 'locked', message: `The action ${underWay} is still running on this server` };
  if (server?.state !== 'rented') return notAllowed('The service has no server that it could leave');
  // One that cannot be used may have nobody who could turn that off.
  if (server.inRescue && !server.isOutOfOrder)
    return notAllowed('The server is in the rescue system: it can be left once that is turned off');
  return null;
}

/** Whoever looks changes nothing, so it goes on beside an action. Facts of the line itself, besides the state. */
function againstConsole(facts: Facts): Refusal | null {
  const { server } = facts;
  const state = stateOf(facts);
  const { from } = ruleOf('console');
  if (server === null || !from.includes(state)) {
    const is = { creating: 'being set up', reinstalling: 'being reinstalled' }[state as string] ?? state;
    return notAllowed(`The server is ${is}; its console is shown once that is done`);
  }
  if (!server.canSwitch)
    return notAllowed('The console of this server is not shown here: ask our staff in a ticket');
  if (server.isProving)
    return notAllowed(
      'Our installer has the serial line of this server until it is proved; try again once it is done',
    );
  if (server.showsLine === false) return notAllowed('The controller of this server shows no serial line');
  if (server.isSilent)
    return notAllowed('The controller of this server does not answer at the moment; try again shortly');
  return null;
}

function notAllowed(message: string): Refusal {
  return { code: 'action_not_allowed', message };
}
