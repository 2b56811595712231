import { chooseOrganization, chosenOrganization } from './organization.ts';
import { queryClient, session, startOver } from './queries/index.ts';

/** Acts for the organization that an address names, where whoever is signed in belongs to it. */
export async function actFor(named: unknown): Promise<void> {
  const signedIn = await queryClient.ensureQueryData(session);
  const known = signedIn?.organizations.find(({ id }) => id === named);
  if (known === undefined || known.id === chosenOrganization()) return;
  chooseOrganization(known.id);
  await startOver();
}
