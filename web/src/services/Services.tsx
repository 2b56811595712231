import { useInfiniteQuery } from '@tanstack/react-query';
import { useNavigate, useSearch } from '@tanstack/react-router';
import { moreOf, services } from '../data/queries/index.ts';
import { serviceStates } from '../data/states.ts';
import { useText } from '../text/index.ts';
import {
  Group,
  LinkButton,
  List,
  NativeSelect,
  Page,
  Text,
  TextInput,
  useDebouncedCallback,
} from '../ui/index.ts';
import { useServiceColumns } from './columns.tsx';

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
              <LinkButton to="/order">{t('services.order')}</LinkButton>
            </>
          )
        }
        more={moreOf(found)}
      />
    </Page>
  );
}
