import { Client } from '../../../client/index.ts';
import { noteLookedAt, send } from './asCode.ts';
import { askForLack } from './asking.ts';
import { acting } from './impersonation.ts';
import { chosenOrganization } from './organization.ts';

/** Everything that the dashboard asks goes through this one; the session's cookie says who asks, but where staff acts as somebody. */
export const client = new Client({
  url: '/api',
  organization: chosenOrganization,
  token: () => acting()?.token,
  // What acts as a customer is over when it is over: signing in again would not bring it back.
  onRefused: async (refusal, call) =>
    !noteLookedAt(refusal.requestId, call) && acting() === null && (await askForLack(refusal, call)),
  fetch: send,
});
