import { Client } from '../../../client/index.ts';
import { chosenOrganization } from './organization.ts';

/** Everything that the dashboard asks goes through this one; the session's cookie says who asks. */
export const client = new Client({ url: '/api', organization: chosenOrganization });
