import { useMutation, useQuery, useQueryClient } from '@tanstack/react-query';
import { useNavigate, useParams } from '@tanstack/react-router';
import { useState } from 'react';
import type { Schema } from '../../../client/index.ts';
import { useAhead } from '../data/ahead.ts';
import { client } from '../data/client.ts';
import { cancellation, renewal, service } from '../data/queries/index.ts';
import { day, moment, money } from '../text/formats.ts';
import { useText } from '../text/index.ts';
import {
  ActionButton,
  Fact,
  Group,
  LinkTo,
  Refusal,
  Refusals,
  Section,
  SimpleGrid,
  Skeleton,
  Stack,
  Text,
  Tiles,
  Unfold,
} from '../ui/index.ts';
import { Cancellation } from './Cancellation.tsx';
import { Move } from './Move.tsx';
import { Note } from './Note.tsx';
import { Upgrade } from './Upgrade.tsx';

type Owned = Schema<'Service'>;

/** What a service costs and until when, and everything that changes that. */
export function Contract() {
  const { t } = useText();
  const id = Number(useParams({ from: '/in/services/$id' }).id);
  const { data: owned } = useQuery(service(id));
  if (owned === undefined) return <Skeleton height={320} />;
  if (owned.status === 'terminated') return <Ended owned={owned} />;
  return (
    <Stack gap="lg">
      <Renewal owned={owned} />
      <Unfold title={t('upgrade.title')}>
        <Upgrade owned={owned} />
      </Unfold>
      <SimpleGrid cols={{ base: 1, md: 2 }}>
        <Unfold title={t('services.note')}>
          <Note owned={owned} />
        </Unfold>
        <Move owned={owned} />
      </SimpleGrid>
      <Cancellation owned={owned} />
    </Stack>
  );
}

/** Nothing of an ended one is paid or changed any more. */
function Ended({ owned }: { owned: Owned }) {
  const { t, language } = useText();
  const { data, error, refetch } = useQuery(cancellation(owned.id));
  return (
    <Stack gap="lg">
      <Section title={t('contract.period')}>
        <SimpleGrid cols={{ base: 1, xs: 2, md: 4 }}>
          <Fact name={t('billing.price')}>
            {money(owned.price, owned.currency, language)} · {t(`cycle.${owned.billingCycle}`)}
          </Fact>
          {typeof data?.effective_at === 'string' && (
            <Fact name={t('contract.ended')}>{moment(data.effective_at, language)}</Fact>
          )}
        </SimpleGrid>
        <Refusal error={error} onRetry={() => void refetch()} />
      </Section>
      <Unfold title={t('services.note')}>
        <Note owned={owned} />
      </Unfold>
    </Stack>
  );
}

function Renewal({ owned }: { owned: Owned }) {
  const { t, language } = useText();
  const queries = useQueryClient();
  const navigate = useNavigate();
  const read = useQuery(renewal(owned.id));
  const [chosen, setChosen] = useState<string | null>(null);
  const cycles = read.data?.cycles ?? [];
  const cycle = cycles.find((each) => each.cycle === (chosen ?? owned.billingCycle)) ?? cycles[0];
  const renew = useMutation({
    mutationFn: async () => {
      const { invoice_id: invoice } = await client.post('/dashboard/services/{id}/renew', {
        path: { id: owned.id },
        body: { cycle: cycle?.cycle ?? owned.billingCycle },
      });
      for (const kind of ['services', 'invoices']) void queries.invalidateQueries({ queryKey: [kind] });
      await navigate({ to: '/invoices/$id', params: { id: String(invoice) } });
    },
  });
  const auto = useAhead<Owned, boolean>({
    of: service(owned.id).queryKey,
    isAllowed: ({ actions }) => actions.auto_renew.allowed,
    becomes: (now, wanted) => ({ ...now, auto_renew: wanted }),
    send: (wanted) =>
      client.patch('/dashboard/services/{id}', { path: { id: owned.id }, body: { auto_renew: wanted } }),
    anew: [['services']],
  });
  const amount = (value: string) => money(value, owned.currency, language);
  return (
    <Section title={t('contract.period')}>
      <SimpleGrid cols={{ base: 1, xs: 2, md: 4 }}>
        <Fact name={t('billing.price')}>
          {amount(owned.price)} · {t(`cycle.${owned.billingCycle}`)}
        </Fact>
        <Fact name={t('services.due')}>
          {owned.duedate === null ? t('services.noPayment') : day(owned.duedate, language)}
        </Fact>
        {owned.coming_price !== null && (
          <Fact name={t('contract.comingPrice', { day: day(owned.coming_price.from, language) })}>
            {amount(owned.coming_price.price)}
          </Fact>
        )}
        {owned.promised_until !== null && (
          <Fact name={t('contract.promise')}>
            {t('contract.promiseUntil', { day: day(owned.promised_until, language) })}
          </Fact>
        )}
      </SimpleGrid>
      <Refusal error={read.error} onRetry={() => void read.refetch()} />
      {read.isPending && <Skeleton height={72} />}
      {cycles.length > 0 && (
        <Tiles
          name="cycle"
          legend={t('contract.renewFor')}
          tiles={cycles.map((each) => ({
            value: each.cycle,
            label: `${t(`cycle.${each.cycle}`)} · ${amount(each.price)}`,
            note: [
              t('contract.until', { day: day(each.new_duedate, language) }),
              each.discount_percent > 0 && t('contract.less', { percent: each.discount_percent }),
            ]
              .filter(Boolean)
              .join(' · '),
          }))}
          value={cycle?.cycle}
          onChoose={setChosen}
        />
      )}
      {typeof read.data?.open_invoice_id === 'number' && (
        <LinkTo to="/invoices/$id" params={{ id: String(read.data.open_invoice_id) }}>
          {t('contract.openInvoice')}
        </LinkTo>
      )}
      <Refusal error={renew.error} />
      <Refusals of={auto.refused} />
      <Group>
        <ActionButton action={owned.actions.renew} loading={renew.isPending} onAct={() => renew.mutate()}>
          {t('contract.renew')}
        </ActionButton>
        <ActionButton
          variant="default"
          action={owned.actions.auto_renew}
          loading={auto.isPending}
          onAct={() => auto.mutate(!owned.auto_renew)}
        >
          {t(owned.auto_renew ? 'contract.autoOff' : 'contract.autoOn')}
        </ActionButton>
      </Group>
      <Text size="sm" c="dimmed">
        {t(owned.auto_renew ? 'contract.autoIsOn' : 'contract.autoIsOff')}
      </Text>
    </Section>
  );
}
