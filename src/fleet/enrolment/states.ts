import { possibleActions, type ReasonAgainst } from '../../platform/http/index.ts';
import { fail } from '../../platform/index.ts';

/** States of a machine in the waiting list, and what staff may do in each: the one table that enforces it and that staff sees. */
export const arrivalStates = ['waiting', 'accepted', 'enrolled', 'rejected'] as const;
export type ArrivalState = (typeof arrivalStates)[number];

export const arrivalActions = ['accept', 'reject'] as const;
export type ArrivalAction = (typeof arrivalActions)[number];

export const refusalCodes = ['conflict'] as const;

export interface InList {
  id: number;
  state: ArrivalState;
  /** Whether it was heard of just now. */
  is_there: boolean;
}

const otherwise: Record<Exclude<ArrivalState, 'waiting'>, string> = {
  accepted: 'it is being enrolled',
  enrolled: 'it is a server since it was enrolled',
  rejected: 'have it start from the network again after enrolment was opened anew',
};

function reasonAgainst(
  action: ArrivalAction,
  { id, state, is_there: isThere }: InList,
): ReasonAgainst<(typeof refusalCodes)[number]> | null {
  if (state !== 'waiting')
    return { code: 'conflict', message: `The machine ${id} is ${state}: ${otherwise[state]}` };
  if (action === 'accept' && !isThere) {
    const message = `The machine ${id} is not heard of any more: have it start from the network again while enrolment is open`;
    return { code: 'conflict', message };
  }
  return null;
}

/** Each action with whether it is possible, and why not (contract §3). */
export function actionsOf(machine: InList) {
  return possibleActions(arrivalActions, (action) => reasonAgainst(action, machine));
}

/** Throws the reason against an action, unless it is possible. */
export function requireAction(action: ArrivalAction, machine: InList): void {
  const refusal = reasonAgainst(action, machine);
  if (refusal !== null) throw fail(refusal.code, { message: refusal.message });
}
