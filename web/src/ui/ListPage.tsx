import { Button, Group, NativeSelect, Text, TextInput } from '@mantine/core';
import { useDebouncedCallback } from '@mantine/hooks';
import { type UseInfiniteQueryOptions, useInfiniteQuery } from '@tanstack/react-query';
import { useNavigate, useRouter, useSearch } from '@tanstack/react-router';
import { type ReactNode, useState } from 'react';
import { moreOf } from '../data/queries/index.ts';
import { useText } from '../text/index.ts';
import { type Column, List } from './List.tsx';
import { Page } from './Page.tsx';
import { useChosenColumns } from './staffColumns.tsx';
import { type FieldName, useWord } from './Value.tsx';

type Words = Readonly<Record<string, string | number | undefined>>;

export interface Filter {
  name: FieldName;
  /** Between what may be chosen; without it something is typed. */
  of?: readonly (string | { value: string; label: string })[];
  /** An order, of which one always is: the first is that of the API. */
  isOrder?: boolean;
  /** A day of the calendar is chosen. */
  isDay?: boolean;
}

interface Pages<Item> {
  pages: readonly { items: readonly Item[] }[];
}

interface StaffListProps<Item> {
  label: string;
  // biome-ignore lint/suspicious/noExplicitAny: the library's own types of a page's place and of errors do not matter here.
  query: UseInfiniteQueryOptions<any, any, any, any, any>;
  columns: readonly Column<Item>[];
  keyOf?: (item: Item) => string | number;
  /** Said when there is nothing: why, and what comes next. */
  empty: string;
  /** Takes back what the list was filtered by, when it was. */
  onShowAll?: (() => void) | undefined;
}

/** A list of staff's that is read page by page. */
export function StaffList<Item extends object>({
  label,
  query,
  columns,
  keyOf,
  empty,
  onShowAll,
}: StaffListProps<Item>) {
  const { t } = useText();
  const found = useInfiniteQuery(query);
  const items = (found.data as Pages<Item> | undefined)?.pages.flatMap((page) => page.items);
  return (
    <List
      label={label}
      items={items}
      keyOf={keyOf ?? ((item) => (item as { id: number }).id)}
      columns={columns}
      error={found.error}
      onRetry={() => void found.refetch()}
      empty={
        onShowAll === undefined ? (
          <Text c="dimmed">{empty}</Text>
        ) : (
          <>
            <Text c="dimmed">{t('staff.noneFound')}</Text>
            <Button variant="default" onClick={onShowAll}>
              {t('staff.showAll')}
            </Button>
          </>
        )
      }
      more={moreOf(found)}
    />
  );
}

interface ListPageProps<Item> extends Omit<StaffListProps<Item>, 'label' | 'query' | 'onShowAll'> {
  title: string;
  text?: string;
  // biome-ignore lint/suspicious/noExplicitAny: see above.
  list: (filter: Words) => UseInfiniteQueryOptions<any, any, any, any, any>;
  filters?: readonly Filter[];
  aside?: ReactNode;
  children?: ReactNode;
}

/** A whole page that is a list: what it is filtered by stands in the address, and which columns it has is chosen in the browser. */
export function ListPage<Item extends object>({
  title,
  text,
  list,
  filters = [],
  columns,
  ...rest
}: ListPageProps<Item>) {
  const { shown: chosen, choice } = useChosenColumns(columns);
  const { aside, children, ...shown } = rest;
  const given = useSearch({ strict: false }) as Words;
  const navigate = useNavigate();
  // Filters are drawn anew when they are taken back: what is typed into them is theirs.
  const [shownAll, setShownAll] = useState(0);
  const showAll = async () => {
    await navigate({ to: '.', search: {}, replace: true });
    setShownAll((times) => times + 1);
  };
  const filter = Object.fromEntries(
    filters.map(({ name }) => [name, given[name]]).filter(([, value]) => value !== undefined),
  ) as Words;
  return (
    <Page title={title} aside={aside}>
      {text !== undefined && <Text c="dimmed">{text}</Text>}
      <Group justify="space-between" align="end" gap="sm">
        {filters.length > 0 ? <Filters key={shownAll} filters={filters} given={filter} /> : <span />}
        {choice}
      </Group>
      {children}
      <StaffList
        label={title}
        query={list(filter)}
        columns={chosen}
        onShowAll={Object.keys(filter).length > 0 ? () => void showAll() : undefined}
        {...shown}
      />
    </Page>
  );
}

function Filters({ filters, given }: { filters: readonly Filter[]; given: Words }) {
  const { t } = useText();
  const word = useWord();
  const navigate = useNavigate();
  const router = useRouter();
  const choose = (name: string, value: string) =>
    void navigate({
      to: '.',
      search: (before: Words) => ({ ...before, [name]: value === '' ? undefined : value }),
      replace: true,
    });
  // Who has gone on to another page meanwhile, which may still be on its way, is not to be fetched back.
  const type = useDebouncedCallback((name: string, value: string, at: string) => {
    if (router.latestLocation.pathname === at) choose(name, value);
  }, 300);
  return (
    <Group gap="sm" align="end">
      {filters.map(({ name, of, isDay = false, isOrder = false }) =>
        of === undefined ? (
          <TextInput
            key={name}
            label={t(`field.${name}`)}
            type={isDay ? 'date' : 'text'}
            defaultValue={given[name]?.toString() ?? ''}
            onChange={({ currentTarget: { value } }) =>
              type(name, value.trim(), router.latestLocation.pathname)
            }
            miw={{ base: '100%', xs: 220 }}
          />
        ) : (
          <NativeSelect
            key={name}
            label={t(`field.${name}`)}
            value={given[name]?.toString() ?? ''}
            onChange={({ currentTarget: { value } }) => choose(name, value)}
            data={[
              ...(isOrder ? [] : [{ value: '', label: t('app.all') }]),
              ...of.map((each) => (typeof each === 'string' ? { value: each, label: word(each) } : each)),
            ]}
          />
        ),
      )}
    </Group>
  );
}
