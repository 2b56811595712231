import { useMutation, useQuery, useQueryClient } from '@tanstack/react-query';
import { Outlet, useNavigate } from '@tanstack/react-router';
import { Fragment, useEffect } from 'react';
import { ApiError } from '../../client/index.ts';
import { NoOrganization } from './account/NoOrganization.tsx';
import { client } from './data/client.ts';
import { chooseOrganization } from './data/organization.ts';
import { endSession, session, startOver } from './data/queries/index.ts';
import { followOrganization } from './data/stream.ts';
import { type Language, languageOf, setLanguage, useText } from './text/index.ts';
import { Refusal, Shell } from './ui/index.ts';

/** Places, each with the permission that it shows something with. */
const places = [
  { to: '/', label: 'nav.overview', permission: null },
  { to: '/services', label: 'nav.services', permission: 'service.read' },
  { to: '/order', label: 'nav.order', permission: 'order' },
  { to: '/billing', label: 'nav.billing', permission: 'billing.read' },
  { to: '/tickets', label: 'nav.tickets', permission: 'ticket.read' },
  { to: '/account/security', label: 'nav.security', permission: null },
] as const;

/** Around every page of whoever is signed in: where to go, for whom, and news as it happens. */
export function House() {
  const { t } = useText();
  const navigate = useNavigate();
  const queries = useQueryClient();
  const { data: signedIn } = useQuery(session);
  const organization = signedIn?.organization ?? null;
  const organizationId = organization?.id ?? null;
  const wanted = signedIn?.preferences.language;
  const signOut = useMutation({
    mutationFn: async () => {
      await client.post('/auth/logout').catch((error: unknown) => {
        // Ended already. Anything else leaves the session open, and that is said.
        if (!(error instanceof ApiError) || error.status !== 401) throw error;
      });
      await endSession();
      await navigate({ to: '/sign-in' });
    },
  });
  const choose = useMutation({
    mutationFn: async (id: number) => {
      chooseOrganization(id);
      await startOver();
      await navigate({ to: '/' });
    },
  });
  const speak = (language: Language) => {
    setLanguage(language);
    void client.post('/dashboard/account/preferences', { body: { language } }).then(
      () => queries.invalidateQueries({ queryKey: session.queryKey }),
      () => undefined, // It is spoken here; the account keeps the one before.
    );
  };

  useEffect(() => {
    if (organizationId === null) return;
    const end = new AbortController();
    followOrganization(queries, organizationId, end.signal);
    return () => end.abort();
  }, [organizationId, queries]);
  useEffect(() => {
    if (wanted !== undefined) setLanguage(languageOf(wanted));
  }, [wanted]);
  useEffect(() => {
    // The session ended elsewhere: whoever signs in again goes on here.
    const { pathname, search } = window.location;
    if (signedIn === null && pathname !== '/sign-in')
      void navigate({ to: '/sign-in', search: { next: pathname + search, ended: true } });
  }, [signedIn, navigate]);

  if (!signedIn) return null;
  const may: ReadonlySet<string> = new Set(organization?.permissions);
  return (
    <Shell
      session={signedIn}
      places={places
        .filter(({ permission }) => permission === null || may.has(permission))
        .map(({ to, label }) => ({ to, label: t(label) }))}
      onOrganization={(id) => choose.mutate(id)}
      onLanguage={speak}
      onSignOut={() => signOut.mutate()}
    >
      <Refusal error={signOut.error ?? choose.error} />
      <Fragment key={organizationId}>{organization === null ? <NoOrganization /> : <Outlet />}</Fragment>
    </Shell>
  );
}
