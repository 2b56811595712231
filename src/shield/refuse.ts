import { fail } from '../platform/index.ts';

/** For a field of a request that cannot be as it is sent: `invalid_request`. `message` goes on after the field's name. */
export function refuse(field: string, message: string) {
  return fail('invalid_request', { details: [{ field, message }] });
}
