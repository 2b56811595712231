import { useQuery } from '@tanstack/react-query';
import { useState } from 'react';
import { createSshKey } from '../../../client/generated/fields/createSshKey.ts';
import type { Schema } from '../../../client/index.ts';
import { useAhead } from '../data/ahead.ts';
import { client } from '../data/client.ts';
import { queryClient, sshKeys } from '../data/queries/index.ts';
import { day } from '../text/formats.ts';
import { useText } from '../text/index.ts';
import { Button, Confirm, Field, Form, List, LongField, Page, Refusals, Section, Text } from '../ui/index.ts';
import { DeveloperTabs } from './DeveloperTabs.tsx';

const readAnew = () => queryClient.invalidateQueries({ queryKey: sshKeys.queryKey });

/** Keys that somebody's machines let in. */
export function SshKeys() {
  const { t, language } = useText();
  const read = useQuery(sshKeys);
  const [added, setAdded] = useState(0);
  const [removed, setRemoved] = useState<Schema<'SshKey'> | null>(null);
  const remove = useAhead<Schema<'SshKey'>[], number>({
    of: sshKeys.queryKey,
    isAllowed: () => true,
    becomes: (now, id) => now.filter((key) => key.id !== id),
    send: (id) => client.delete('/dashboard/account/ssh-keys/{id}', { path: { id } }),
    anew: [sshKeys.queryKey],
  });
  return (
    <Page title={t('sshKeys.title')}>
      <DeveloperTabs />
      <Refusals of={remove.refused} />
      <List
        label={t('sshKeys.title')}
        items={read.data}
        keyOf={({ id }) => id}
        columns={[
          { name: t('organization.name'), cell: ({ name }) => <b>{name}</b> },
          {
            name: t('sshKeys.fingerprint'),
            cell: ({ fingerprint }) => <code style={{ overflowWrap: 'anywhere' }}>{fingerprint}</code>,
          },
          { name: t('security.added'), cell: ({ created_at }) => day(created_at, language) },
          {
            name: t('app.actions'),
            isNumber: true,
            cell: (key) => (
              <Button
                size="xs"
                variant="default"
                aria-label={t('security.removeOf', { name: key.name })}
                onClick={() => setRemoved(key)}
              >
                {t('app.remove')}
              </Button>
            ),
          },
        ]}
        error={read.error}
        onRetry={() => void read.refetch()}
        empty={
          <>
            <Text fw={600}>{t('sshKeys.none')}</Text>
            <Text c="dimmed">{t('sshKeys.noneText')}</Text>
          </>
        }
      />
      <Section title={t('sshKeys.add')}>
        <Form
          fields={createSshKey}
          key={added}
          submit={t('sshKeys.add')}
          onSubmit={async ({ name = '', public_key = '' }) => {
            await client.post('/dashboard/account/ssh-keys', {
              body: { name, public_key: public_key.trim() },
            });
            await readAnew();
            setAdded((before) => before + 1);
          }}
          beside={added > 0 && <Text role="status">{t('app.saved')}</Text>}
        >
          <Field name="name" label={t('organization.name')} />
          <LongField name="public_key" label={t('sshKeys.key')} help={t('sshKeys.keyHelp')} />
        </Form>
      </Section>
      <Confirm
        title={t('security.removeOf', { name: removed?.name ?? '' })}
        text={t('sshKeys.removeLoses')}
        button={t('app.remove')}
        isOpen={removed !== null}
        onClose={() => setRemoved(null)}
        onConfirm={() => {
          if (removed !== null) remove.mutate(removed.id);
          setRemoved(null);
        }}
      />
    </Page>
  );
}
