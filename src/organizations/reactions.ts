import { accountRegistered, lockAnyUser } from '../account/index.ts';
import { type OwnReaction, on } from '../events/index.ts';
import { actingAs } from '../platform/index.ts';
import { foundOrganization } from './organizations.ts';

/** Whoever registers has an organization of their own to act for. */
const foundFirst = on(accountRegistered, 'organizations.foundFirst', async (tx, { data }) => {
  // Who has closed their account by now acts for nobody, and nobody would close what is founded.
  if ((await lockAnyUser(tx, data.user_id)) === 'closed') return;
  const organization = { name: data.organization_name, country: data.country, ownerId: data.user_id };
  await foundOrganization(actingAs(tx, data.user_id), organization);
});

export const organizationReactions: OwnReaction[] = [foundFirst];
