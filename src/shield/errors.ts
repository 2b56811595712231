import { errors } from '../platform/index.ts';

const shieldErrors = errors({
  action_not_allowed: [409, 'The machine is not in a state that allows this'],
  not_supported: [409, 'The node of this machine cannot do this'],
  edge_in_use: [409, 'Something is still told to this edge, or its process speaks to it'],
  limiter_in_use: [409, 'Rules use this rate limiter; give them another one first'],
  connection_too_old: [
    409,
    'This connection was open before these rules were in force; confirm them over a new one, since only that shows that nobody is shut out',
  ],
  trial_over: [409, 'These rules are not tried out any more'],
  would_lock_out: [
    409,
    'These rules shut out the address that you come from: send confirm_within_s to try them out, or force',
  ],
});

type ShieldErrors = typeof shieldErrors;

declare module '../platform/errors.ts' {
  interface ErrorCatalogue extends ShieldErrors {}
}
