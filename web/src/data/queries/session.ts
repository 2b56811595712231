import { MutationCache, QueryCache, QueryClient, queryOptions } from '@tanstack/react-query';
import { ApiError, type Schema } from '../../../../client/index.ts';
import { forgetBegun } from '../begun.ts';
import { client } from '../client.ts';
import { forgetDrafts } from '../drafts.ts';
import { actAs, acting } from '../impersonation.ts';
import { chooseOrganization, organizationOf } from '../organization.ts';
import { forgetLate } from '../refused.ts';
import { sayShown } from '../shown.ts';
import { mayBeSignedIn, rememberSignedIn } from '../signedIn.ts';

/** Somebody whose session has ended signs in again, whatever it was that they asked for. */
function noticeEnd(error: unknown): void {
  const isOver = error instanceof ApiError && error.status === 401;
  if (isOver) void queryClient.invalidateQueries({ queryKey: session.queryKey });
}

/**
 * What was read is read anew when an event says that it has changed; see `events.ts`. What no event tells of, as what a
 * machine uses, is read anew by whoever comes back to it.
 */
export const queryClient = new QueryClient({
  queryCache: new QueryCache({ onError: noticeEnd }),
  mutationCache: new MutationCache({
    // Signing in is refused with the same status: there is no session that could have ended.
    onError: (error) => {
      if (mayBeSignedIn()) noticeEnd(error);
    },
  }),
  defaultOptions: {
    // The client itself waits and asks again where that is of use. Also where the browser believes that there is no
    // network: what waited for one in silence would be done when nobody expects it any more.
    queries: { staleTime: 30_000, retry: false, networkMode: 'always', refetchOnReconnect: true },
    mutations: { retry: false, networkMode: 'always' },
  },
});

export interface Session {
  user: Schema<'Account'>['user'];
  preferences: Schema<'Account'>['preferences'];
  organizations: readonly Schema<'Organization'>[];
  passkeys: Schema<'Account'>['passkeys'];
  /** What somebody of the provider may call; null for customers. */
  staff: Schema<'Account'>['staff'];
  /** Where streams of events stood before anything of this was read. */
  position: number;
  /** The one whose things are shown; null for whoever is in none. */
  organization: Schema<'Organization'> | null;
}

/** Who is signed in and for whom they act; null for nobody. */
export const session = queryOptions({
  queryKey: ['session'],
  queryFn: readSession,
});

/** The organization that was shown at last; null for none, undefined before the first look. */
let shown: number | null | undefined;

async function readSession(): Promise<Session | null> {
  if (!mayBeSignedIn()) return null;
  try {
    const [{ user, preferences, passkeys, staff, events_position: position }, { organizations }] =
      await Promise.all([
        client.get('/dashboard/account'),
        client.get('/dashboard/organizations', { query: { limit: 100 } }),
      ]);
    const organization = organizationOf(organizations, preferences.default_organization_id);
    chooseOrganization(organization?.id ?? null);
    // Somebody was removed from one, or is themselves again: what was read is another one's.
    if (shown !== undefined && shown !== (organization?.id ?? null)) forgetRead();
    shown = organization?.id ?? null;
    // Other tabs stay with whoever is signed in here.
    if (acting() === null) {
      rememberSignedIn(user.id);
      forgetDrafts(user.id);
    }
    return {
      user,
      preferences,
      passkeys,
      staff,
      position,
      organizations,
      organization: organization ?? null,
    };
  } catch (error) {
    if (!(error instanceof ApiError) || error.status !== 401) throw error;
    if (acting() !== null) {
      // Its half hour is over, or somebody ended it: they are themselves again.
      actAs(null);
      return readSession();
    }
    rememberSignedIn(null);
    return null;
  }
}

/** Of somebody else, or for another organization: nothing that was read before is shown any more. */
export async function startOver(): Promise<void> {
  await queryClient.cancelQueries();
  await queryClient.fetchQuery({ ...session, staleTime: 0 });
  forgetRead();
}

/** Nobody is signed in any more. */
export async function endSession(): Promise<void> {
  await queryClient.cancelQueries();
  forgetBegun();
  rememberSignedIn(null);
  forgetDrafts(null);
  forgetLate();
  chooseOrganization(null);
  sayShown(null);
  queryClient.setQueryData(session.queryKey, null);
  forgetRead();
}

/** All but the session, which pages look at while they change hands. */
function forgetRead(): void {
  queryClient.removeQueries({ predicate: ({ queryKey }) => queryKey[0] !== session.queryKey[0] });
}
