import { useMutation, useQuery, useQueryClient } from '@tanstack/react-query';
import { useNavigate } from '@tanstack/react-router';
import { useState } from 'react';
import type { Schema } from '../../../client/index.ts';
import { client } from '../data/client.ts';
import { renewal, upgrades } from '../data/queries/index.ts';
import { day, money } from '../text/formats.ts';
import { useText } from '../text/index.ts';
import {
  ActionButton,
  Fact,
  NativeSelect,
  Refusal,
  SimpleGrid,
  Skeleton,
  Stack,
  Text,
  Tiles,
} from '../ui/index.ts';

/** Another product, or another time between payments, with what it costs before it is ordered. */
export function Upgrade({ owned }: { owned: Schema<'Service'> }) {
  const { t, language } = useText();
  const queries = useQueryClient();
  const navigate = useNavigate();
  const { data: renewals } = useQuery(renewal(owned.id));
  const [cycle, setCycle] = useState<Schema<'Cycle'>>(owned.billingCycle);
  const isOther = cycle !== owned.billingCycle;
  const read = useQuery(upgrades(owned.id, isOther ? cycle : undefined));
  const [chosen, setChosen] = useState<number | null>(null);
  const offers = read.data?.availableProducts ?? [];
  const offer = offers.find(({ id }) => id === chosen) ?? offers[0];
  const upgrade = useMutation({
    mutationFn: async (product_id: number) => {
      const { invoice_id: invoice } = await client.post('/dashboard/services/{id}/upgrade', {
        path: { id: owned.id },
        body: { product_id, ...(isOther && { cycle }) },
      });
      for (const kind of ['services', 'vps', 'invoices'])
        void queries.invalidateQueries({ queryKey: [kind] });
      if (invoice !== null) await navigate({ to: '/invoices/$id', params: { id: String(invoice) } });
    },
  });
  const amount = (value: string) => money(value, owned.currency, language);
  return (
    <Stack gap="sm">
      {renewals !== undefined && (
        <NativeSelect
          label={t('order.cycle')}
          maw={320}
          value={cycle}
          onChange={({ currentTarget: { value } }) =>
            setCycle(renewals.cycles.find((each) => each.cycle === value)?.cycle ?? owned.billingCycle)
          }
          data={renewals.cycles.map((each) => ({ value: each.cycle, label: t(`cycle.${each.cycle}`) }))}
        />
      )}
      <Refusal error={read.error} onRetry={() => void read.refetch()} />
      {read.isPending && <Skeleton height={72} />}
      {read.data !== undefined && offers.length === 0 && <Text c="dimmed">{t('upgrade.none')}</Text>}
      {offer !== undefined && (
        <>
          <Tiles
            name="product_id"
            legend={t('order.product')}
            tiles={offers.map((each) => ({
              value: String(each.id),
              label: each.name,
              note: `${each.description} · ${amount(each.new_price)}`,
            }))}
            value={String(offer.id)}
            onChoose={(value) => setChosen(Number(value))}
          />
          <SimpleGrid cols={{ base: 1, xs: 2, md: 4 }}>
            <Fact name={t('order.total')}>{amount(offer.total)}</Fact>
            <Fact name={t('resize.newPrice')}>
              {amount(offer.new_price)} · {t(`cycle.${offer.cycle}`)}
            </Fact>
            <Fact name={t('upgrade.due')}>{day(offer.new_duedate, language)}</Fact>
            <Fact name={t('upgrade.effective')}>{t(`upgrade.${offer.effective}`)}</Fact>
          </SimpleGrid>
          <Refusal error={upgrade.error} />
          {upgrade.isSuccess && <Text role="status">{t('upgrade.done')}</Text>}
          <div>
            <ActionButton
              variant="default"
              action={owned.actions.upgrade}
              loading={upgrade.isPending}
              onAct={() => upgrade.mutate(offer.id)}
            >
              {t('upgrade.submit')}
            </ActionButton>
          </div>
        </>
      )}
    </Stack>
  );
}
