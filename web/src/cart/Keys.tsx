import { useQuery, useQueryClient } from '@tanstack/react-query';
import { useState } from 'react';
import { createSshKey } from '../../../client/generated/fields/createSshKey.ts';
import { client } from '../data/client.ts';
import { sshKeys } from '../data/queries/index.ts';
import { useText } from '../text/index.ts';
import {
  Badge,
  Button,
  Dialog,
  Field,
  Form,
  Group,
  LongField,
  Refusal,
  Skeleton,
  Text,
} from '../ui/index.ts';

/** The keys that a new machine lets in: all that the account has. */
export function Keys() {
  const { t } = useText();
  const queries = useQueryClient();
  const read = useQuery(sshKeys);
  const [isOpen, setOpen] = useState(false);
  return (
    <div>
      <Text size="sm" fw={600}>
        {t('order.keys')}
      </Text>
      <Refusal error={read.error} onRetry={() => void read.refetch()} />
      {read.isPending && <Skeleton height={28} width="50%" my={6} />}
      <Group gap="xs" my={6}>
        {read.data?.map(({ id, name }) => (
          <Badge key={id} variant="default" tt="none" size="lg" radius="sm" fw={500}>
            {name}
          </Badge>
        ))}
        <Button size="xs" variant="default" onClick={() => setOpen(true)}>
          {t('order.addKey')}
        </Button>
      </Group>
      <Text size="sm" c="dimmed">
        {t(read.data?.length === 0 ? 'order.noKeys' : 'order.keysHelp')}
      </Text>
      <Dialog title={t('order.addKey')} isOpen={isOpen} onClose={() => setOpen(false)}>
        <Form
          fields={createSshKey}
          submit={t('order.addKey')}
          onSubmit={async ({ name = '', public_key = '' }) => {
            await client.post('/dashboard/account/ssh-keys', { body: { name, public_key } });
            await queries.invalidateQueries({ queryKey: sshKeys.queryKey });
            setOpen(false);
          }}
        >
          <Field name="name" label={t('order.keyName')} />
          <LongField name="public_key" label={t('order.publicKey')} help={t('order.publicKeyHelp')} />
        </Form>
      </Dialog>
    </div>
  );
}
