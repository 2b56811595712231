import { useQuery } from '@tanstack/react-query';
import { Outlet, useParams } from '@tanstack/react-router';
import { useShieldSeen } from '../data/measured.ts';
import { shieldIp } from '../data/queries/index.ts';
import { moment } from '../text/formats.ts';
import { useText } from '../text/index.ts';
import { Alert, LinkTo, Page, PageTabs, Refusal, Skeleton, State, Text } from '../ui/index.ts';
import { useSayAttack } from './say.ts';
import { TrialBanner } from './TrialBanner.tsx';

const sections = ['presets', 'traffic', 'attacks', 'detection', 'explain'] as const;

/** What stands around every page of an address: how it is, what is tried out there, and where to go. */
export function Address() {
  const { t, language } = useText();
  const { ip } = useParams({ from: '/in/shield/addresses/$ip' });
  const read = useQuery(shieldIp(ip));
  const { data: found } = read;
  const sayAttack = useSayAttack();
  useShieldSeen(found?.ip.service_id ?? null);
  if (found === undefined)
    return (
      <Page title={ip}>
        {read.error ? (
          <Refusal title={t('shield.oneFailed')} error={read.error} onRetry={() => void read.refetch()} />
        ) : (
          <Skeleton height={320} />
        )}
      </Page>
    );
  const { shield, hostname, service_id: service, dns_name } = found.ip;
  const base = `/shield/addresses/${encodeURIComponent(ip)}`;
  return (
    <Page
      title={ip}
      aside={
        <>
          <State of={shield.enabled ? 'protected' : 'unprotected'} />
          {shield.under_attack && <State of="under_attack" />}
        </>
      }
    >
      <Text c="dimmed" style={{ overflowWrap: 'anywhere' }}>
        <LinkTo to="/services/$id" params={{ id: String(service) }}>
          {hostname ?? t('services.untitled', { id: service })}
        </LinkTo>
        {dns_name !== null && ` · ${dns_name}`}
      </Text>
      {found.attack !== null && (
        <Alert color="red" title={t('shield.attackedBy', { name: sayAttack(found.attack) })}>
          <Text size="sm">
            {t('shield.since', { time: moment(String(found.attack.started_at), language) })}{' '}
            <LinkTo to="/shield/attacks/$id" params={{ id: found.attack.attack_id }} c="inherit">
              {t('shield.seeAttack')}
            </LinkTo>
          </Text>
        </Alert>
      )}
      {found.trial !== null && <TrialBanner trial={found.trial} readAt={read.dataUpdatedAt} />}
      <PageTabs
        label={t('shield.sections')}
        tabs={[
          { to: base, label: t('shield.rules') },
          ...sections.map((name) => ({ to: `${base}/${name}`, label: t(`shield.tab_${name}`) })),
        ]}
      />
      <Outlet />
    </Page>
  );
}
