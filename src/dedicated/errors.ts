import { errors } from '../platform/index.ts';

const dedicatedErrors = errors({
  not_on_server: [404, 'This service is not a dedicated server that is managed here'],
});

type DedicatedErrors = typeof dedicatedErrors;

declare module '../platform/errors.ts' {
  interface ErrorCatalogue extends DedicatedErrors {}
}
