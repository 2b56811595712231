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

interface Rule {
  from: readonly ServerState[];
  /** What is wrong with any other state, after "is <state>: ". */
  otherwise: string;
}

const rules = {
  place: { from: inRack, otherwise: 'release it first' },
  quarantine: {
    from: [...inStock, 'broken'],
    otherwise: `it can be put into quarantine while it is ${inStock.join(', ')} or broken`,
  },
  // It waits to be looked at again: nobody knows what happened to it meanwhile.
  release: { from: [...aside, 'retired'], otherwise: 'nothing keeps it from being used' },
  retire: {
    from: ['waiting', 'ready', ...aside],
    otherwise: `it can be retired while it is ${[...inStock, ...aside].join(', ')}`,
  },
} as const satisfies Record<string, Rule>;

export type ServerAction = keyof typeof rules;

export const serverActions = Object.keys(rules) as ServerAction[];

export const refusalCodes = ['conflict'] as const;

export interface InState {
  name: string;
  state: ServerState;
}

function reasonAgainst(
  action: ServerAction,
  { name, state }: InState,
): ReasonAgainst<(typeof refusalCodes)[number]> | null {
  const { from, otherwise }: Rule = rules[action];
  if (from.includes(state)) return null;
  return { code: 'conflict', message: `${name} is ${state}: ${otherwise}` };
}

/** Each action with whether it is possible, and why not (contract §3). */
export function actionsOf(server: InState) {
  return possibleActions(serverActions, (action) => reasonAgainst(action, server));
}

/** Throws the reason against an action, unless it is possible. */
export function requireAction(action: ServerAction, server: InState): void {
  const refusal = reasonAgainst(action, server);
  if (refusal !== null) throw fail(refusal.code, { message: refusal.message });
}
