import { useMutation } from '@tanstack/react-query';
import { useState } from 'react';
import { renamePasskey } from '../../../client/generated/fields/renamePasskey.ts';
import { client } from '../data/client.ts';
import { queryClient, type Session, session } from '../data/queries/index.ts';
import { day } from '../text/formats.ts';
import { useText } from '../text/index.ts';
import { Button, Confirm, Dialog, Field, Form, Group, List, Refusal, Section, Text } from '../ui/index.ts';
import { forgetPasskey, makePasskey } from './passkey.ts';
import { PasskeyRefusal } from './SignIn.tsx';

type Passkey = Session['passkeys'][number];

const readAnew = () => queryClient.invalidateQueries({ queryKey: session.queryKey });

interface PasskeysProps {
  passkeys: readonly Passkey[];
  onCodes: (codes: readonly string[]) => void;
}

/** What people sign in with instead of a password: kept by their phone, their computer or a key of metal. */
export function Passkeys({ passkeys, onCodes }: PasskeysProps) {
  const { t, language } = useText();
  const [renamed, setRenamed] = useState<Passkey | null>(null);
  const [removed, setRemoved] = useState<Passkey | null>(null);
  const add = useMutation({
    mutationFn: async () => {
      const { recovery_codes } = await makePasskey();
      if (recovery_codes !== null) onCodes(recovery_codes);
      await readAnew();
    },
  });
  const remove = useMutation({
    mutationFn: async ({ id, credential_id }: Passkey) => {
      await client.delete('/dashboard/account/passkeys/{id}', { path: { id } });
      await forgetPasskey(credential_id);
    },
    onSettled: readAnew,
  });
  return (
    <Section
      title={t('security.passkeys')}
      aside={
        <Button loading={add.isPending} onClick={() => add.mutate()}>
          {t('security.passkeyAdd')}
        </Button>
      }
    >
      <Text>{t('security.passkeysText')}</Text>
      <PasskeyRefusal error={add.error} />
      <Refusal error={remove.error} />
      <List
        label={t('security.passkeys')}
        items={passkeys}
        keyOf={({ id }) => id}
        columns={[
          { name: t('organization.name'), cell: ({ name }) => <b>{name}</b> },
          { name: t('security.added'), cell: ({ created_at }) => day(created_at, language) },
          {
            name: t('security.lastUsed'),
            cell: ({ last_used }) =>
              last_used === null ? t('security.neverUsed') : day(last_used, language),
          },
          {
            name: t('app.actions'),
            isNumber: true,
            cell: (passkey) => (
              <Group gap="xs" justify="end">
                <Button
                  size="xs"
                  variant="default"
                  aria-label={t('security.renameOf', { name: passkey.name })}
                  onClick={() => setRenamed(passkey)}
                >
                  {t('security.rename')}
                </Button>
                <Button
                  size="xs"
                  variant="default"
                  aria-label={t('security.removeOf', { name: passkey.name })}
                  onClick={() => setRemoved(passkey)}
                >
                  {t('app.remove')}
                </Button>
              </Group>
            ),
          },
        ]}
        error={null}
        onRetry={() => undefined}
        empty={<Text c="dimmed">{t('security.noPasskeys')}</Text>}
      />
      <Dialog title={t('security.rename')} isOpen={renamed !== null} onClose={() => setRenamed(null)}>
        <Form
          fields={renamePasskey}
          submit={t('app.save')}
          onSubmit={async ({ name = '' }) => {
            const id = renamed?.id ?? 0;
            await client.patch('/dashboard/account/passkeys/{id}', { path: { id }, body: { name } });
            setRenamed(null);
            await readAnew();
          }}
        >
          <Field name="name" label={t('organization.name')} defaultValue={renamed?.name ?? ''} autoFocus />
        </Form>
      </Dialog>
      <Confirm
        title={t('security.removeOf', { name: removed?.name ?? '' })}
        text={t('security.passkeyLoses')}
        button={t('app.remove')}
        isOpen={removed !== null}
        onClose={() => setRemoved(null)}
        onConfirm={() => {
          if (removed !== null) remove.mutate(removed);
          setRemoved(null);
        }}
      />
    </Section>
  );
}
