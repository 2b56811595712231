import { useQuery } from '@tanstack/react-query';
import { Outlet, useParams } from '@tanstack/react-router';
import type { Schema } from '../../../client/index.ts';
import { service } from '../data/queries/index.ts';
import { Delivery } from '../dedicated/Delivery.tsx';
import { Power as ServerPower } from '../dedicated/Power.tsx';
import { useText } from '../text/index.ts';
import { Alert, Page, PageTabs, Refusal, Skeleton, State, Text } from '../ui/index.ts';
import { Power } from '../vps/Power.tsx';

type Waiting = Schema<'Service'>['waiting'][number];

const machineTabs = [
  ...(['console', 'charts', 'addresses', 'snapshots', 'access'] as const),
  ...(['settings', 'resize', 'reinstall', 'history'] as const),
];

const serverTabs = [
  ...(['console', 'bandwidth', 'hardware', 'addresses'] as const),
  ...(['rescue', 'reinstall', 'history'] as const),
] as const;

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
  const isThere = found.status === 'active' || found.status === 'suspended';
  const isMachine = found.type === 'vps' && isThere;
  const isServer = found.on_server && isThere;
  // What the product itself makes of a paid order is said in more words than those of everything else.
  const isMade = (each: Waiting) => found.on_server && each.for === 'delivery' && each.by === 'product';
  const waiting = found.waiting.filter((each) => !isMade(each));
  const base = `/services/${id}`;
  return (
    <Page title={name} aside={found.status !== 'active' && <State of={found.status} />}>
      {found.provisioning_state === 'failed' && <Alert color="orange">{t('machine.notBuilt')}</Alert>}
      {waiting.length < found.waiting.length && <Delivery id={found.id} />}
      {waiting.length > 0 && (
        <Alert color="blue" title={t('machine.waits')}>
          {waiting.map((each) => (
            <Text key={each.for} size="sm">
              {each.message}
            </Text>
          ))}
        </Alert>
      )}
      {found.suspend_reason !== null && <Alert color="red">{found.suspend_reason}</Alert>}
      {isMachine && <Power id={found.id} />}
      {isServer && <ServerPower id={found.id} />}
      <PageTabs
        label={t('services.sections')}
        tabs={[
          { to: base, label: t('tab.overview') },
          ...(isMachine ? machineTabs : isServer ? serverTabs : []).map((tab) => ({
            to: `${base}/${tab}`,
            label: t(`tab.${tab}`),
          })),
          { to: `${base}/contract`, label: t('tab.contract') },
        ]}
      />
      <Outlet />
    </Page>
  );
}
