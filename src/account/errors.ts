import { errors } from '../platform/index.ts';

const accountErrors = errors({
  last_key: [
    409,
    'This is your last API key, and without one nobody gets in. Make another first; to be left with none, say leave_none=true. An administrator, or add-key at the console, can make you one again',
  ],
  duplicate_ssh_key: [409, 'This SSH key is already in your account'],
  invalid_ssh_key: [400, 'This is not an OpenSSH public key we can use'],
});

type AccountErrors = typeof accountErrors;

declare module '../platform/errors.ts' {
  interface ErrorCatalogue extends AccountErrors {}
}
