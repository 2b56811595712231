import { errors } from '../platform/index.ts';

const vpsErrors = errors({
  locked: [409, 'Another action is running on this machine'],
});

type VpsErrors = typeof vpsErrors;

declare module '../platform/errors.ts' {
  interface ErrorCatalogue extends VpsErrors {}
}
