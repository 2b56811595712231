import { Group, NativeSelect, Text, TextInput } from '@mantine/core';
import { useDebouncedCallback } from '@mantine/hooks';
import { useInfiniteQuery } from '@tanstack/react-query';
import { useNavigate, useSearch } from '@tanstack/react-router';
import type { Schema } from '../../../client/index.ts';
import { services } from '../data/queries.ts';
import { serviceStates } from '../data/states.ts';
import { day, money } from '../text/formats.ts';
import { useText } from '../text/index.ts';
import { LinkButton, LinkTo } from '../ui/LinkTo.tsx';
import { type Column, List } from '../ui/List.tsx';
import { Page } from '../ui/Page.tsx';
import { State } from '../ui/State.tsx';

type Service = Schema<'Service'>;

export function useServiceColumns(): Column<Service>[] {
  const { t, language } = useText();
  return [
    {
      name: t('services.name'),
      cell: (each) => (
        <LinkTo to="/services/$id" params={{ id: String(each.id) }}>
          {each.hostname ?? each.domain ?? t('services.untitled', { id: each.id })}
        </LinkTo>
      ),
    },
    { name: t('services.status'), cell: ({ status }) => <State of={status} /> },
    { name: t('services.address'), cell: ({ primary_ip }) => primary_ip ?? '–' },
    { name: t('services.product'), cell: ({ product }) => product.name },
    {
      name: t('services.due'),
      isNumber: true,
      cell: ({ duedate, price, currency }) =>
        duedate === null
          ? t('services.noPayment')
          : t('services.perCycle', {
              price: money(price, currency, language),
              day: day(duedate, language),
            }),
    },
  ];
}

export function Services() {
  const { t } = useText();
  const filter = useSearch({ from: '/in/services' });
  const navigate = useNavigate({ from: '/services' });
  const found = useInfiniteQuery(services(filter));
  const columns = useServiceColumns();
  const change = (part: Partial<typeof filter>) =>
    navigate({ search: (before) => ({ ...before, ...part }), replace: true });
  const search = useDebouncedCallback((text: string) => void change({ search: text || undefined }), 250);
  const isFiltered = filter.status !== undefined || filter.search !== undefined;
  return (
    <Page title={t('services.title')}>
      <Group align="end">
        <TextInput
          type="search"
          label={t('services.search')}
          defaultValue={filter.search}
          onChange={(event) => search(event.currentTarget.value)}
        />
        <NativeSelect
          label={t('services.status')}
          value={filter.status ?? ''}
          onChange={({ currentTarget: { value } }) =>
            void change({ status: serviceStates.find((each) => each === value) })
          }
          data={[
            { value: '', label: t('app.all') },
            ...serviceStates.map((value) => ({ value, label: t(`status.${value}`) })),
          ]}
        />
      </Group>
      <List
        label={t('services.title')}
        items={found.data?.pages.flatMap((page) => page.services)}
        keyOf={({ id }) => id}
        columns={columns}
        error={found.error}
        failed={t('services.failed')}
        onRetry={() => void found.refetch()}
        empty={
          isFiltered ? (
            <>
              <Text fw={600}>{t('services.noneFound')}</Text>
              <LinkButton to="/services" variant="default">
                {t('services.showAll')}
              </LinkButton>
            </>
          ) : (
            <>
              <Text fw={600}>{t('services.none')}</Text>
              <Text c="dimmed">{t('services.noneText')}</Text>
            </>
          )
        }
        more={{
          has: found.hasNextPage,
          isLoading: found.isFetchingNextPage,
          load: () => void found.fetchNextPage(),
        }}
      />
    </Page>
  );
}
