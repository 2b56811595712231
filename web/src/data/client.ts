import { Client } from '../../../client/index.ts';
import { noteLookedAt, send } from './asCode.ts';
import { askForLack } from './asking.ts';
import { chosenOrganization } from './organization.ts';

/** Everything that the dashboard asks goes through this one; the session's cookie says who asks. */
export const client = new Client({
  url: '/api',
  organization: chosenOrganization,
  onRefused: async (refusal, call) => !noteLookedAt(refusal.requestId, call) && askForLack(refusal, call),
  fetch: send,
});
