import { errors } from '../platform/index.ts';

const vpsErrors = errors({
  locked: [409, 'Another action is running on this machine'],
  action_not_allowed: [409, 'The machine is not in a state that allows this'],
  not_supported: [409, 'The node of this machine cannot do this'],
});

type VpsErrors = typeof vpsErrors;

declare module '../platform/errors.ts' {
  interface ErrorCatalogue extends VpsErrors {}
}
