import { useQueryClient } from '@tanstack/react-query';
import { Outlet } from '@tanstack/react-router';
import { useEffect } from 'react';
import type { OperationName } from '../../client/index.ts';
import { Proof } from './account/Proof.tsx';
import { useMay } from './data/may.ts';
import { followAll } from './data/staffStream.ts';
import { useText } from './text/index.ts';
import { LinkButton, Page, Refusal, Shell, Text } from './ui/index.ts';
import { useHouse } from './useHouse.ts';

/** Places of staff, each with the operation that it shows something by. */
const places = [
  { to: '/staff', label: 'staff.today', operation: 'listConcerns' },
] as const satisfies readonly { to: string; label: string; operation: OperationName }[];

/** Around every page of the provider's people: where they may go, and news of everything. */
export function StaffHouse() {
  const { t } = useText();
  const queries = useQueryClient();
  const { signedIn, signOut, speak } = useHouse();
  const may = useMay();
  const hearsAll = may('followAllEvents');
  useEffect(() => {
    if (!hearsAll) return;
    const end = new AbortController();
    followAll(queries, end.signal);
    return () => end.abort();
  }, [hearsAll, queries]);
  if (!signedIn?.staff) return null;
  const open = places.filter(({ operation }) => may(operation));
  return (
    <Shell
      session={{ ...signedIn, organizations: [], organization: null }}
      places={open.map(({ to, label }) => ({ to, label: t(label) }))}
      elsewhere={signedIn.organization === null ? undefined : { to: '/', label: t('staff.toOwn') }}
      onOrganization={() => undefined}
      onLanguage={speak}
      onSignOut={() => signOut.mutate()}
    >
      <Proof session={signedIn} />
      <Refusal error={signOut.error} />
      {signedIn.staff.operations.length === 0 ? <NoFactor /> : <Outlet />}
    </Shell>
  );
}

/** Nothing of the provider's is shown to whoever signed in without a second factor. */
function NoFactor() {
  const { t } = useText();
  return (
    <Page title={t('staff.factorTitle')}>
      <Text>{t('staff.factorText')}</Text>
      <LinkButton to="/account/security" style={{ alignSelf: 'flex-start' }}>
        {t('staff.factorSetUp')}
      </LinkButton>
    </Page>
  );
}
