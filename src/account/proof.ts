import { type Principal, requireFresh } from '../platform/http/index.ts';
import type { Clock } from '../platform/index.ts';

/**
 * For what opens an account or its machines, and which programs may do too: a key is its own proof, and a person proves
 * first who they are. `reauthentication_required`.
 */
export function requireProof(principal: Principal, clock: Clock): void {
  if (principal.signIn !== null) requireFresh(principal, clock);
}
