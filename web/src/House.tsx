import { useMutation, useQueryClient } from '@tanstack/react-query';
import { Outlet, useNavigate, useRouterState } from '@tanstack/react-router';
import { Fragment, lazy, Suspense, useEffect } from 'react';
import { Acting } from './account/Acting.tsx';
import { Proof } from './account/Proof.tsx';
import { acting } from './data/impersonation.ts';
import { chooseOrganization, chosenOrganization } from './data/organization.ts';
import { startOver } from './data/queries/index.ts';
import { sayShown } from './data/shown.ts';
import { followAs, followOrganization } from './data/stream.ts';
import { PaletteButton } from './search/PaletteButton.tsx';
import { useText } from './text/index.ts';
import { Refusal, Shell, Skeleton, useComputedColorScheme } from './ui/index.ts';
import { useHouse } from './useHouse.ts';

// Few are in none, and it brings the names of all countries.
const NoOrganization = lazy(async () => ({
  default: (await import('./organizations/NoOrganization.tsx')).NoOrganization,
}));

/** Places, each with the permission that it shows something with. */
const places = [
  { to: '/', label: 'nav.overview', permission: null },
  { to: '/services', label: 'nav.services', permission: 'service.read' },
  { to: '/shield', label: 'nav.shield', permission: 'shield.read' },
  { to: '/order', label: 'nav.order', permission: 'order' },
  { to: '/billing', label: 'nav.billing', permission: 'billing.read' },
  { to: '/tickets', label: 'nav.tickets', permission: 'ticket.read' },
  { to: '/organization', label: 'nav.organization', permission: null },
  { to: '/developers', label: 'nav.developers', permission: null },
  { to: '/account', label: 'nav.account', permission: null },
] as const;

/** Around every page of whoever is signed in: where to go, for whom, and news as it happens. */
export function House() {
  const { t } = useText();
  const navigate = useNavigate();
  const queries = useQueryClient();
  const { signedIn, signOut, speak } = useHouse();
  const organization = signedIn?.organization ?? null;
  const organizationId = organization?.id ?? null;
  const choose = useMutation({
    mutationFn: async (id: number) => {
      const before = chosenOrganization();
      chooseOrganization(id);
      await startOver().catch((error: unknown) => {
        // What is on the screen is still of the one before.
        chooseOrganization(before);
        throw error;
      });
      await navigate({ to: '/' });
    },
  });
  useEffect(() => {
    if (organizationId === null) return;
    const end = new AbortController();
    const as = acting();
    // A shared stream goes by the session's cookie, which is staff's own.
    if (as === null) followOrganization(queries, organizationId, end.signal);
    else followAs(queries, { organization: organizationId, token: as.token }, end.signal);
    return () => end.abort();
  }, [organizationId, queries]);
  const scheme = useComputedColorScheme('light');
  useEffect(() => {
    if (organizationId !== null && acting() === null) sayShown({ organizationId, scheme });
  }, [organizationId, scheme]);
  // What is about themselves is open to those who are in no organization, as the provider's people often are.
  const isAboutSelf = useRouterState({ select: ({ location }) => location.pathname.startsWith('/account/') });
  if (!signedIn) return null;
  const may: ReadonlySet<string> = new Set(organization?.permissions);
  const open = places
    .filter(({ permission }) => permission === null || may.has(permission))
    .map(({ to, label }) => ({ to, label: t(label) }));
  return (
    <Shell
      session={signedIn}
      places={open}
      search={<PaletteButton places={open} isStaff={false} />}
      elsewhere={signedIn.staff === null ? undefined : { to: '/staff', label: t('app.toStaff') }}
      onOrganization={(id) => choose.mutate(id)}
      onLanguage={speak}
      onSignOut={() => signOut.mutate()}
    >
      <Proof />
      <Acting />
      <Refusal error={signOut.error ?? choose.error} />
      <Fragment key={organizationId}>
        {choose.isPending ? (
          // What is sent from now on is about the other one: nothing of this one can be pressed.
          <Skeleton height={320} />
        ) : organization === null && !isAboutSelf ? (
          <Suspense fallback={<Skeleton height={320} />}>
            <NoOrganization />
          </Suspense>
        ) : (
          <Outlet />
        )}
      </Fragment>
    </Shell>
  );
}
