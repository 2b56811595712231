import { possibleActions, type ReasonAgainst } from '../../platform/http/index.ts';
import { fail } from '../../platform/index.ts';

/** States of a server and what staff may do in each: the one table that enforces it and that staff sees. */
export const serverStates = [
  'waiting',
  'ready',
  'held',
  'rented',
  'returning',
  'quarantined',
  'broken',
  'retired',
] as const;

export type ServerState = (typeof serverStates)[number];

/** An order or a customer has it, or it comes back from one: what becomes of it then is not staff's alone to say. */
const inStock = ['waiting', 'ready'] as const;
const aside = ['quarantined', 'broken'] as const;
const inRack: readonly ServerState[] = serverStates.filter((state) => state !== 'retired');

/** A service has it, and nothing is at work for that: staff alone can take it from there. */
const ofServices: readonly ServerState[] = ['held', 'rented', 'returning'];

/** The product itself is at work on the others, and what somebody else does with their power would be in its way. */
const byHand = [...inStock, 'rented', ...aside] as const;

interface Rule {
  from: readonly ServerState[];
  /** What is wrong with any other state, after "is <state>: ". */
  otherwise: string;
  /** It is done by its BMC. */
  byBmc?: boolean;
  /** It cannot be done while its power is switched. */
  atRest?: boolean;
}

const power = {
  from: byHand,
  otherwise: `its power can be switched while it is ${byHand.join(', ')}`,
  ...{ byBmc: true, atRest: true },
} as const;

/** Nobody has them, and nobody is sold them meanwhile. */
const nobodys = ['waiting', ...aside] as const;
const notForRescue =
  'its customer takes it into the rescue system, or what is at work on it has its end first; its serial line and its power are yours to use where a customer has it, on the record';

const doesNotDiffer = 'no difference from the baseline of its profile keeps it out of stock';

const rules = {
  place: { from: inRack, otherwise: 'release it first', atRest: true },
  quarantine: {
    from: [...inStock, 'broken'],
    otherwise: `it can be put into quarantine while it is ${inStock.join(', ')} or broken`,
  },
  // It waits to be looked at again: nobody knows what happened to it meanwhile.
  release: { from: [...aside, 'retired'], otherwise: 'nothing keeps it from being used' },
  accept_differences: { from: ['quarantined'], otherwise: doesNotDiffer },
  retire: {
    from: ['waiting', 'ready', ...aside],
    otherwise: `it can be retired while it is ${[...inStock, ...aside].join(', ')}`,
    atRest: true,
  },
  ...{ start: power, stop: power, restart: power },
  rescue: { from: nobodys, otherwise: notForRescue, byBmc: true, atRest: true },
  rescue_off: { from: nobodys, otherwise: notForRescue, byBmc: true, atRest: true },
  // It is the proof's for a while, which is no state of the server.
  console: { from: inRack, otherwise: 'it has no BMC any more', byBmc: true },
  accept_bmc: { from: inRack, otherwise: 'it has no BMC any more', byBmc: true },
  read: { from: inRack, otherwise: 'it has no BMC any more', byBmc: true },
} as const satisfies Record<string, Rule>;

export type ServerAction = keyof typeof rules;

export type PowerAction = 'start' | 'stop' | 'restart';

/** What is done with a customer's server beside its power, while nobody else switches it: all but `move` by themselves. */
export type CustomerWork = 'reinstall' | 'rescue' | 'rescue_off' | 'move';

export const serverActions = Object.keys(rules) as ServerAction[];

export const refusalCodes = ['conflict', 'locked'] as const;

export interface InState {
  name: string;
  state: ServerState;
  /** Null: nobody said how it is reached. `action`: what is done with its power right now. `other_uuid`: of another one that answers instead; null: none. */
  bmc: { action: PowerAction | null; other_uuid: string | null } | null;
  customer_work: CustomerWork | null;
  /** Staff has it in the rescue system, or on its way there. */
  in_rescue: boolean;
  /** What it is known by when it starts from the network. */
  macs: string[];
  /** From the baseline of its profile, for which alone it is in quarantine; null: it is not. */
  differences: string[] | null;
  /** Why its customer cannot use it; null: they can, or it has none. */
  out_of_order: string | null;
  /** For its service; null: it has none. */
  at_work: AtWork | null;
  /** The service that is to get it (`held`), or has left it. */
  move_service_id: number | null;
  /** It is a service's as of a backup that nobody has released, and nothing was begun with it since. */
  is_of_backup: boolean;
}

/**
 * Of the service that a server is held by, rented to or comes back from: `customer` has it or is about to; a `job` brings it there or back, or waits for staff;
 * `nothing` is at work for it any more, as when staff dismissed that job.
 */
export type AtWork = 'customer' | 'job' | 'nothing';

const doing = {
  ...{ start: 'is being started', stop: 'is being stopped', restart: 'is being restarted' },
} satisfies Record<PowerAction, string>;

const working: Record<CustomerWork, string> = {
  reinstall: 'is being reinstalled by its customer',
  rescue: 'is being taken into the rescue system by its customer',
  rescue_off: 'is being taken out of the rescue system by its customer',
  move: 'is being left by its customer, who gets another one',
};

const jobAtWork = 'a job works on it or waits for you, which is retried, or dismissed first';

const byStaff: typeof working = {
  ...working,
  rescue: 'is being taken into the rescue system',
  rescue_off: 'is being taken out of the rescue system',
};

function reasonAgainst(
  action: ServerAction,
  server: InState,
): ReasonAgainst<(typeof refusalCodes)[number]> | null {
  const { name, state, bmc, customer_work: work, at_work: atWork, is_of_backup: isOfBackup } = server;
  const { differences, out_of_order: outOfOrder } = server;
  const { from, otherwise, byBmc = false, atRest = false }: Rule = rules[action];
  if (action === 'release' && state === 'rented' && outOfOrder !== null) return null;
  if (action === 'quarantine' && ofServices.includes(state)) {
    if (atWork === 'nothing') return null;
    // Its service has another one and stays there: what brings it here is called off.
    if (state === 'held' && server.move_service_id !== null) return null;
    // It may be somebody else's: what the order or the return of its service waits for is that staff says so.
    if (isOfBackup && (state === 'held' || atWork === 'job')) return null;
    if (atWork === 'job') return { code: 'conflict', message: `${name} is ${state}: ${jobAtWork}` };
    // It stays its customer's, who reads that it is out of order.
    if (state === 'rented' && atWork === 'customer')
      return outOfOrder === null
        ? null
        : { code: 'conflict', message: `${name} is out of order for its customer already` };
  }
  if (action === 'rescue' && state === 'ready')
    return {
      code: 'conflict',
      message: `${name} is in stock: put it into quarantine first, so that nobody buys it meanwhile`,
    };
  if (!from.includes(state)) return { code: 'conflict', message: `${name} is ${state}: ${otherwise}` };
  if (action === 'accept_differences' && differences === null)
    return { code: 'conflict', message: `${name} is ${state}: ${doesNotDiffer}` };
  if (byBmc && bmc === null)
    return { code: 'conflict', message: `${name} has no BMC: say how it is reached first` };
  if (action === 'accept_bmc' && bmc?.other_uuid === null)
    return { code: 'conflict', message: `No other BMC than that of ${name} answers at its address` };
  if (atRest && bmc !== null && bmc.action !== null)
    return { code: 'locked', message: `${name} ${doing[bmc.action]} right now: wait until that is done` };
  if (atRest && work !== null) {
    const what = state === 'rented' ? working[work] : byStaff[work];
    return { code: 'locked', message: `${name} ${what} right now: wait until that is done` };
  }
  return againstRescue(action, server);
}

/** Of what begins or ends the rescue system of staff, and of what would change the server under it. */
function againstRescue(action: ServerAction, { name, in_rescue: inRescue, macs }: InState) {
  const conflict = (message: string) => ({ code: 'conflict', message }) as const;
  if (action === 'rescue_off') return inRescue ? null : conflict(`${name} is not in the rescue system`);
  if (action === 'rescue' && macs.length === 0)
    return conflict(`${name} has no MAC by which it is known when it starts from the network: say one first`);
  if (inRescue && changing.has(action))
    return conflict(`${name} is in the rescue system: turn that off first`);
  return null;
}

const changing: ReadonlySet<ServerAction> = new Set(['place', 'retire', 'rescue', 'accept_differences']);

/** Each action with whether it is possible, and why not (contract §3). */
export function actionsOf(server: InState) {
  return possibleActions(serverActions, (action) => reasonAgainst(action, server));
}

/** Throws the reason against an action, unless it is possible. */
export function requireAction(action: ServerAction, server: InState): void {
  const refusal = reasonAgainst(action, server);
  if (refusal !== null) throw fail(refusal.code, { message: refusal.message });
}
