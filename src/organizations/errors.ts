import { errors } from '../platform/index.ts';

const organizationErrors = errors({
  already_member: [409, 'This person is a member of the organization already'],
  already_invited: [
    409,
    'This address was invited already; send the invitation again, or withdraw it and invite anew',
  ],
  invitation_for_another: [
    403,
    'This invitation was sent to another address; sign in with the account that has it',
  ],
  last_owner: [
    409,
    'An organization keeps at least one owner: make somebody else an owner first, or hand it over (POST …/hand-over)',
  ],
});

type OrganizationErrors = typeof organizationErrors;

declare module '../platform/errors.ts' {
  interface ErrorCatalogue extends OrganizationErrors {}
}
