import { useInfiniteQuery } from '@tanstack/react-query';
import { useNavigate, useSearch } from '@tanstack/react-router';
import type { Schema } from '../../../client/index.ts';
import { moreOf, shieldIps } from '../data/queries/index.ts';
import { useText } from '../text/index.ts';
import {
  type Column,
  LinkButton,
  LinkTo,
  List,
  Page,
  RowLink,
  Spark,
  State,
  Text,
  TextInput,
  useDebouncedCallback,
} from '../ui/index.ts';
import { ShieldTabs } from './ShieldTabs.tsx';
import { plainOf } from './say.ts';
import { useRates } from './useRates.ts';

type Ip = Schema<'ShieldIp'>;

/** All addresses of an organization: whether something filters what is sent there, and what comes. */
export function Shield() {
  const { t } = useText();
  const { search } = useSearch({ from: '/in/shield' });
  const navigate = useNavigate({ from: '/shield' });
  const found = useInfiniteQuery(shieldIps(search));
  const look = useDebouncedCallback(
    (typed: string) => void navigate({ search: { search: typed || undefined }, replace: true }),
    200,
  );
  return (
    <Page title={t('shield.title')}>
      <ShieldTabs />
      <Text c="dimmed">{t('shield.text')}</Text>
      <TextInput
        type="search"
        label={t('shield.search')}
        defaultValue={search}
        onChange={({ currentTarget: { value } }) => look(value.trim())}
        maw={360}
      />
      <List
        label={t('shield.addresses')}
        items={found.data?.pages.flatMap(({ ips }) => ips)}
        keyOf={({ address }) => address}
        columns={useIpColumns()}
        error={found.error}
        failed={t('shield.failed')}
        onRetry={() => void found.refetch()}
        empty={
          search === undefined ? (
            <>
              <Text fw={600}>{t('shield.none')}</Text>
              <Text c="dimmed" ta="center">
                {t('shield.noneText')}
              </Text>
              <LinkButton to="/order">{t('services.order')}</LinkButton>
            </>
          ) : (
            <Text fw={600}>{t('shield.noneFound')}</Text>
          )
        }
        more={moreOf(found)}
      />
    </Page>
  );
}

function useIpColumns(): readonly Column<Ip>[] {
  const { t } = useText();
  return [
    {
      name: t('services.address'),
      cell: ({ address, dns_name }) => (
        <span className="titled">
          <RowLink to="/shield/addresses/$ip" params={{ ip: plainOf(address) }}>
            {plainOf(address)}
          </RowLink>
          {dns_name !== null && <small>{dns_name}</small>}
        </span>
      ),
    },
    { name: t('services.status'), cell: ({ shield }) => <State of={stateOf(shield)} /> },
    { name: t('shield.rules'), isNumber: true, cell: ({ rules }) => rules },
    { name: t('shield.lastHalfHour'), cell: ({ recent }) => <Recent recent={recent} /> },
    {
      name: t('shield.machine'),
      cell: ({ service_id: id, hostname }) => (
        <LinkTo to="/services/$id" params={{ id: String(id) }}>
          {hostname ?? t('services.untitled', { id })}
        </LinkTo>
      ),
    },
  ];
}

function stateOf({ enabled, under_attack: isAttacked }: Ip['shield']) {
  if (isAttacked) return 'under_attack' as const;
  return enabled ? ('protected' as const) : ('unprotected' as const);
}

/** What came in the last half hour, as a line and in words. */
function Recent({ recent: { packets, dropped } }: Pick<Ip, 'recent'>) {
  const { t } = useText();
  const { inSecond } = useRates();
  const sum = (of: readonly number[]) => of.reduce((before, value) => before + value, 0);
  const all = sum(packets);
  if (all === 0) return <Text c="dimmed">{t('shield.nothingCame')}</Text>;
  const share = Math.round((sum(dropped) / all) * 100);
  return (
    <span className="measured">
      <Spark values={[...packets]} />
      {share === 0
        ? inSecond(all / (packets.length * 60))
        : t('shield.andDropped', { rate: inSecond(all / (packets.length * 60)), share })}
    </span>
  );
}
