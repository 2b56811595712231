import { errors } from '../platform/index.ts';

const fleetErrors = errors({
  locked: [409, 'Another action is running on this machine'],
  no_space: [409, 'There is no room for another copy on the node of this machine'],
  insufficient_stock: [400, 'Not enough stock available'],
});

type FleetErrors = typeof fleetErrors;

declare module '../platform/errors.ts' {
  interface ErrorCatalogue extends FleetErrors {}
}
