import { useQuery } from '@tanstack/react-query';
import type { Schema } from '../../../../client/index.ts';
import { shieldAddressLists } from '../../data/queries/staff/index.ts';
import { useText } from '../../text/index.ts';
import { Anchor, List, Page, Text, useColumns } from '../../ui/index.ts';
import { usePresetName } from '../presetName.ts';

/** The lists of others' addresses that presets are made from: of which day each is, and how long. */
export function ShieldAddressLists() {
  const { t } = useText();
  const presetName = usePresetName();
  const { data, error, refetch } = useQuery(shieldAddressLists());
  const columns = useColumns<Schema<'ShieldAddressList'>>(
    ['title', 'dated', 'networks', 'presets', 'source'],
    {
      networks: ({ prefixes }) => t('edges.networksOfList', prefixes),
      presets: ({ presets }) => presets.map((name) => presetName(name)).join(' · ') || null,
      source: ({ source }) => <Sources of={source.split(', ')} />,
    },
  );
  return (
    <Page title={t('staff.shieldAddressLists')}>
      <Text c="dimmed">{t('edges.addressListsText')}</Text>
      <List
        label={t('staff.shieldAddressLists')}
        items={data?.address_lists}
        keyOf={({ name }) => name}
        columns={columns}
        error={error}
        onRetry={() => void refetch()}
        empty={<Text c="dimmed">{t('empty.shieldAddressLists')}</Text>}
      />
    </Page>
  );
}

/** Where a list is from, as its publishers' pages. */
function Sources({ of: urls }: { of: readonly string[] }) {
  return (
    <div>
      {urls.map((url) => (
        <div key={url}>
          <Anchor href={url} target="_blank" rel="noreferrer" size="sm">
            {url.replace(/^https:\/\/|\/$/g, '')}
          </Anchor>
        </div>
      ))}
    </div>
  );
}
