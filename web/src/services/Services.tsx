import { useInfiniteQuery } from '@tanstack/react-query';
import { useNavigate, useSearch } from '@tanstack/react-router';
import { useState } from 'react';
import type { Schema } from '../../../client/index.ts';
import { moreOf, services } from '../data/queries/index.ts';
import { serviceStates } from '../data/states.ts';
import { useText } from '../text/index.ts';
import {
  Group,
  LinkButton,
  List,
  NativeSelect,
  Page,
  Refusal,
  Text,
  TextInput,
  useDebouncedCallback,
  useOwnWords,
  useWanted,
} from '../ui/index.ts';
import { useServiceColumns } from './columns.tsx';

// What is done with several asks first, by parts that the list itself has no use for.
const load = () => import('./Several.tsx');

type Service = Schema<'Service'>;

export function Services() {
  const { t } = useText();
  const ownWords = useOwnWords('services');
  const filter = useSearch({ from: '/in/services' });
  const navigate = useNavigate({ from: '/services' });
  const found = useInfiniteQuery(services(filter));
  const [chosen, setChosen] = useState<ReadonlySet<number>>(new Set());
  const { part: several, error: lost, want } = useWanted(load);
  const items = found.data?.pages.flatMap((page) => page.services);
  const turn = (id: number, isIn: boolean) => {
    if (several === null) want();
    setChosen((before) => new Set(isIn ? [...before, id] : [...before].filter((each) => each !== id)));
  };
  const columns = useServiceColumns().map((column, nth) =>
    nth > 0
      ? column
      : {
          ...column,
          cell: (each: Service) => (
            <div className="choice-of-row">
              <input
                type="checkbox"
                className="choose"
                aria-label={t('services.select', {
                  name: each.hostname ?? each.domain ?? t('services.untitled', { id: each.id }),
                })}
                checked={chosen.has(each.id)}
                onChange={(event) => turn(each.id, event.currentTarget.checked)}
              />
              {column.cell(each)}
            </div>
          ),
        },
  );
  const change = (part: Partial<typeof filter>) =>
    navigate({ search: (before: typeof filter) => ({ ...before, ...part }), replace: true });
  const search = useDebouncedCallback((text: string) => void change({ search: text || undefined }), 250);
  const isFiltered = filter.status !== undefined || filter.search !== undefined;
  return (
    <Page title={t('services.title')} aside={<LinkButton to="/order">{t('services.order')}</LinkButton>}>
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
      <Refusal error={lost} onRetry={want} />
      {several !== null && (
        <several.Several
          chosen={items?.filter(({ id }) => chosen.has(id)) ?? []}
          onDone={() => setChosen(new Set())}
        />
      )}
      <List
        label={t('services.title')}
        items={items}
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
              <Text c="dimmed" ta="center" className="message">
                {ownWords ?? t('services.noneText')}
              </Text>
              <LinkButton to="/order">{t('services.order')}</LinkButton>
            </>
          )
        }
        more={moreOf(found)}
      />
    </Page>
  );
}
