import { useQuery } from '@tanstack/react-query';
import { Outlet, useParams } from '@tanstack/react-router';
import { service } from '../data/queries/index.ts';
import { useText } from '../text/index.ts';
import { Alert, Page, PageTabs, Refusal, Skeleton, State, Text } from '../ui/index.ts';
import { Power } from '../vps/Power.tsx';

const machineTabs = [
  ...(['console', 'charts', 'addresses', 'snapshots', 'access'] as const),
  ...(['settings', 'resize', 'reinstall', 'history'] as const),
];

/** What stands around every page of a service: its name, how it is, and where to go. */
export function Service() {
  const { t } = useText();
  const { id } = useParams({ from: '/in/services/$id' });
  const read = useQuery(service(Number(id)));
  const { data: found } = read;
  const name = found?.hostname ?? found?.domain ?? t('services.untitled', { id });
  if (found === undefined)
    return (
      <Page title={name}>
        {read.error ? (
          <Refusal error={read.error} onRetry={() => void read.refetch()} />
        ) : (
          <Skeleton height={220} />
        )}
      </Page>
    );
  const isMachine = found.type === 'vps' && (found.status === 'active' || found.status === 'suspended');
  const base = `/services/${id}`;
  return (
    <Page title={name} aside={found.status !== 'active' && <State of={found.status} />}>
      {found.provisioning_state === 'failed' && <Alert color="orange">{t('machine.notBuilt')}</Alert>}
      {found.waiting.length > 0 && (
        <Alert color="blue" title={t('machine.waits')}>
          {found.waiting.map((each) => (
            <Text key={each.for} size="sm">
              {each.message}
            </Text>
          ))}
        </Alert>
      )}
      {found.suspend_reason !== null && <Alert color="red">{found.suspend_reason}</Alert>}
      {isMachine && <Power id={found.id} />}
      <PageTabs
        label={t('services.sections')}
        tabs={[
          { to: base, label: t('tab.overview') },
          ...(isMachine ? machineTabs : []).map((tab) => ({ to: `${base}/${tab}`, label: t(`tab.${tab}`) })),
          { to: `${base}/contract`, label: t('tab.contract') },
        ]}
      />
      <Outlet />
    </Page>
  );
}
