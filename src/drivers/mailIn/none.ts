import type { MailIn } from './contract.ts';

/** No mail comes in. */
export function noMailIn(): MailIn {
  return {
    kind: 'none',
    capabilities: [],
    receive: async () => ({ stop: async () => undefined }),
    judge: async () => ({ proved: false, why: 'no mail comes in' }),
  };
}
