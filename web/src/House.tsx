import { useQuery, useQueryClient } from '@tanstack/react-query';
import { Outlet, useNavigate } from '@tanstack/react-router';
import { useEffect } from 'react';
import { client } from './data/client.ts';
import { chooseOrganization } from './data/organization.ts';
import { session, startOver } from './data/queries.ts';
import { rememberSignedIn } from './data/signedIn.ts';
import { followOrganization } from './data/stream.ts';
import { languageOf, setLanguage, useText } from './text/index.ts';
import { Shell } from './ui/Shell.tsx';

/** Around every page of whoever is signed in: where to go, for whom, and news as it happens. */
export function House() {
  const { t } = useText();
  const navigate = useNavigate();
  const queries = useQueryClient();
  const { data: signedIn } = useQuery(session);
  const organization = signedIn?.organization?.id ?? null;
  const wanted = signedIn?.preferences.language;

  useEffect(() => {
    if (organization === null) return;
    const end = new AbortController();
    followOrganization(queries, organization, end.signal);
    return () => end.abort();
  }, [organization, queries]);
  useEffect(() => {
    if (wanted !== undefined) setLanguage(languageOf(wanted));
  }, [wanted]);
  useEffect(() => {
    // The session ended elsewhere: whoever signs in again goes on here.
    if (signedIn === null) void navigate({ to: '/sign-in', search: { next: window.location.pathname } });
  }, [signedIn, navigate]);

  if (!signedIn) return null;
  return (
    <Shell
      session={signedIn}
      places={[
        { to: '/', label: t('nav.overview') },
        { to: '/services', label: t('nav.services') },
        { to: '/billing', label: t('nav.billing') },
        { to: '/tickets', label: t('nav.tickets') },
      ]}
      onOrganization={(id) => {
        chooseOrganization(id);
        void startOver().then(() => navigate({ to: '/' }));
      }}
      onSignOut={() => {
        void client
          .post('/auth/logout')
          .catch(() => undefined)
          .then(() => {
            chooseOrganization(null);
            rememberSignedIn(false);
            queries.clear();
            return navigate({ to: '/sign-in' });
          });
      }}
    >
      <Outlet />
    </Shell>
  );
}
