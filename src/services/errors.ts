import { errors } from '../platform/index.ts';

const servicesErrors = errors({
  weak_password: [400, 'VPS Server is configured with a weak password, please check your cart'],
  not_a_vps: [404, 'This service is not a VPS'],
});

type ServicesErrors = typeof servicesErrors;

declare module '../platform/errors.ts' {
  interface ErrorCatalogue extends ServicesErrors {}
}
