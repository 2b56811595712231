import { errors } from '../platform/index.ts';

const accountErrors = errors({
  duplicate_ssh_key: [409, 'This SSH key is already in your account'],
  invalid_ssh_key: [400, 'This is not an OpenSSH public key we can use'],
});

type AccountErrors = typeof accountErrors;

declare module '../platform/errors.ts' {
  interface ErrorCatalogue extends AccountErrors {}
}
