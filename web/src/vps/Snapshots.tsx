import { useMutation, useQuery, useQueryClient } from '@tanstack/react-query';
import { useParams } from '@tanstack/react-router';
import { useState } from 'react';
import { createSnapshot } from '../../../client/generated/fields/createSnapshot.ts';
import type { Schema } from '../../../client/index.ts';
import { client } from '../data/client.ts';
import { machine, machineSnapshots } from '../data/queries/index.ts';
import { bytes, moment } from '../text/formats.ts';
import { useText } from '../text/index.ts';
import {
  ActionButton,
  Badge,
  Confirm,
  ConfirmByName,
  Dialog,
  Field,
  Form,
  Group,
  List,
  Refusal,
  Section,
  State,
  Text,
  Tick,
} from '../ui/index.ts';
import { SnapshotFirst, useSnapshotFirst } from './SnapshotFirst.tsx';

type Snapshot = Schema<'Snapshot'>;

/** Copies of a machine's disk: those that somebody made, and those of the nights. */
export function Snapshots() {
  const { t, language } = useText();
  const id = Number(useParams({ from: '/in/services/$id' }).id);
  const queries = useQueryClient();
  const read = useQuery(machineSnapshots(id));
  const { data: vps } = useQuery(machine(id));
  const [isNaming, setNaming] = useState(false);
  const [asked, setAsked] = useState<{ what: 'restore' | 'delete'; of: Snapshot } | null>(null);
  const [keepsKeys, setKeepsKeys] = useState(true);
  const first = useSnapshotFirst(id);
  // The stream tells how it goes on, and when it is done.
  const follow = () => queries.invalidateQueries({ queryKey: ['vps', id] });
  const act = useMutation({
    mutationFn: ({ what, of: { name } }: { what: 'restore' | 'delete'; of: Snapshot }) => {
      const path = { id, name };
      return what === 'restore'
        ? client.post('/dashboard/service/{id}/vps/snapshots/{name}/restore', {
            ...{ path, body: { keep_keys: keepsKeys } },
          })
        : client.delete('/dashboard/service/{id}/vps/snapshots/{name}', { path });
    },
    onSettled: follow,
  });
  const go = () => {
    if (asked !== null) act.mutate(asked);
    setAsked(null);
  };
  const waits = { allowed: false, reason: null };
  const may = (action: 'create_snapshot' | 'restore_snapshot' | 'delete_snapshot') =>
    vps?.actions[action] ?? waits;
  const kept = read.data?.snapshots.filter(({ kind }) => kind === 'snapshot').length;
  return (
    <Section
      title={t('snapshots.title')}
      aside={
        <ActionButton size="sm" action={may('create_snapshot')} onAct={() => setNaming(true)}>
          {t('snapshots.create')}
        </ActionButton>
      }
    >
      {read.data !== undefined && (
        <Text size="sm" c="dimmed">
          {t('snapshots.kept', { count: kept ?? 0, limit: read.data.limit })}
        </Text>
      )}
      <Refusal error={act.error} />
      <List
        label={t('snapshots.title')}
        items={read.data?.snapshots}
        keyOf={({ name }) => name}
        error={read.error}
        onRetry={() => void read.refetch()}
        empty={
          <>
            <Text fw={600}>{t('snapshots.none')}</Text>
            <Text c="dimmed" ta="center">
              {t('snapshots.noneText')}
            </Text>
          </>
        }
        columns={[
          {
            name: t('services.name'),
            cell: ({ name, kind, description }) => (
              <div>
                <Group gap="xs">
                  <Text fw={600} style={{ overflowWrap: 'anywhere' }}>
                    {name}
                  </Text>
                  {kind === 'backup' && (
                    <Badge variant="default" tt="none" radius="sm">
                      {t('snapshots.backup')}
                    </Badge>
                  )}
                </Group>
                {description !== null && (
                  <Text size="sm" style={{ overflowWrap: 'anywhere' }}>
                    {description}
                  </Text>
                )}
              </div>
            ),
          },
          { name: t('services.status'), cell: ({ state }) => <State of={state} /> },
          { name: t('billing.created'), cell: (each) => moment(each.created_at, language) },
          {
            name: t('snapshots.size'),
            isNumber: true,
            cell: ({ size_bytes: size }) => (size === null ? '–' : bytes(size, language)),
          },
          {
            name: t('snapshots.actions'),
            isNumber: true,
            cell: (of) => (
              <Group gap="xs" justify="end">
                <ActionButton
                  size="xs"
                  variant="default"
                  action={may('restore_snapshot')}
                  onAct={() => {
                    // What was kept before another restore says nothing of this one.
                    if (!first.isPending) first.take.reset();
                    setAsked({ what: 'restore', of });
                  }}
                >
                  {t('snapshots.restore')}
                </ActionButton>
                <ActionButton
                  size="xs"
                  variant="default"
                  action={may('delete_snapshot')}
                  onAct={() => setAsked({ what: 'delete', of })}
                >
                  {t('snapshots.delete')}
                </ActionButton>
              </Group>
            ),
          },
        ]}
      />
      <Dialog title={t('snapshots.create')} isOpen={isNaming} onClose={() => setNaming(false)}>
        <Form
          fields={createSnapshot}
          submit={t('snapshots.create')}
          onSubmit={async ({ name = '', description }) => {
            await client.post('/dashboard/service/{id}/vps/snapshots', {
              path: { id },
              body: { name, ...(description !== undefined && { description }) },
            });
            await follow();
            setNaming(false);
          }}
        >
          <Field name="name" label={t('services.name')} help={t('snapshots.nameHelp')} autoFocus />
          <Field name="description" label={t('snapshots.description')} required={false} />
        </Form>
      </Dialog>
      <Confirm
        isOpen={asked?.what === 'delete'}
        title={t('snapshots.deleteAsk', { name: asked?.of.name ?? '' })}
        text={t('snapshots.deleteText')}
        button={t('snapshots.delete')}
        onClose={() => setAsked(null)}
        onConfirm={go}
      />
      <ConfirmByName
        isOpen={asked?.what === 'restore'}
        title={t('snapshots.restoreAsk', { name: asked?.of.name ?? '' })}
        text={t('snapshots.restoreText')}
        button={t('snapshots.restore')}
        name={vps?.hostname ?? ''}
        isReady={may('restore_snapshot').allowed && !first.isPending}
        onClose={() => setAsked(null)}
        onConfirm={go}
      >
        <SnapshotFirst id={id} first={first} />
        <Tick
          name="keep_keys"
          label={t('snapshots.keepKeys')}
          help={t('snapshots.keepKeysHelp')}
          isOn={keepsKeys}
          onChange={setKeepsKeys}
        />
      </ConfirmByName>
    </Section>
  );
}
