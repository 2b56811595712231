import { errors } from '../platform/index.ts';

const organizationErrors = errors({
  last_owner: [
    409,
    'An organization keeps at least one owner: make somebody else an owner first, or hand it over (POST …/hand-over)',
  ],
});

type OrganizationErrors = typeof organizationErrors;

declare module '../platform/errors.ts' {
  interface ErrorCatalogue extends OrganizationErrors {}
}
