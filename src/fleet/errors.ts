import { errors } from '../platform/index.ts';

const fleetErrors = errors({
  insufficient_stock: [400, 'Not enough stock available'],
});

type FleetErrors = typeof fleetErrors;

declare module '../platform/errors.ts' {
  interface ErrorCatalogue extends FleetErrors {}
}
