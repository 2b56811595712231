import { useMutation, useQuery, useQueryClient } from '@tanstack/react-query';
import { useParams } from '@tanstack/react-router';
import { useState } from 'react';
import { resetVpsPassword } from '../../../client/generated/fields/resetVpsPassword.ts';
import { client } from '../data/client.ts';
import { machine, machineKeys } from '../data/queries/index.ts';
import { useText } from '../text/index.ts';
import {
  ActionButton,
  Copy,
  Dialog,
  Form,
  NewPassword,
  Refusal,
  Section,
  SimpleGrid,
  Skeleton,
  Stack,
  Text,
} from '../ui/index.ts';
import { KeyChoice } from './KeyChoice.tsx';

const waits = { allowed: false, reason: null };

/** Who gets in: the password of root, and SSH keys. */
export function Access() {
  const id = Number(useParams({ from: '/in/services/$id' }).id);
  return (
    <SimpleGrid cols={{ base: 1, md: 2 }}>
      <Keys id={id} />
      <Password id={id} />
    </SimpleGrid>
  );
}

function Keys({ id }: { id: number }) {
  const { t } = useText();
  const queries = useQueryClient();
  const read = useQuery(machineKeys(id));
  const { data: vps } = useQuery(machine(id));
  const [changed, setChanged] = useState<ReadonlySet<number> | null>(null);
  const chosen = changed ?? new Set(read.data?.filter(({ installed }) => installed).map((each) => each.id));
  const save = useMutation({
    mutationFn: () =>
      client.post('/dashboard/service/{id}/vps/access', { path: { id }, body: { ssh_key_ids: [...chosen] } }),
    onSettled: () => queries.invalidateQueries({ queryKey: ['vps', id] }),
  });
  const isSame = changed === null && !save.isPending;
  const action = vps?.actions.update_access ?? waits;
  return (
    <Section title={t('access.keys')}>
      <Text size="sm" c="dimmed">
        {t('access.keysText')}
      </Text>
      <Refusal error={read.error} onRetry={() => void read.refetch()} />
      {read.isPending && <Skeleton height={48} />}
      {read.data !== undefined && <KeyChoice keys={read.data} chosen={chosen} onChoose={setChanged} />}
      <Refusal error={save.error} />
      <div>
        <ActionButton
          action={isSame && action.allowed ? { allowed: false, reason: t('access.keysSame') } : action}
          loading={save.isPending}
          onAct={() => save.mutate(undefined, { onSuccess: () => setChanged(null) })}
        >
          {t('app.save')}
        </ActionButton>
      </div>
    </Section>
  );
}

function Password({ id }: { id: number }) {
  const { t } = useText();
  const queries = useQueryClient();
  const { data: vps } = useQuery(machine(id));
  const [isOpen, setOpen] = useState(false);
  /** Made up by the product; this page is the only place that shows it. */
  const [made, setMade] = useState<string | null>(null);
  const [isSet, setSet] = useState(false);
  return (
    <Section title={t('access.password')}>
      <Text size="sm" c="dimmed">
        {t('access.passwordText')}
      </Text>
      {isSet && <Text role="status">{t('access.passwordSet')}</Text>}
      {made !== null && (
        <Stack gap="xs">
          <Text size="sm">{t('access.passwordOnce')}</Text>
          <Copy text={made} />
        </Stack>
      )}
      <div>
        <ActionButton
          variant="default"
          action={vps?.actions.reset_password ?? waits}
          onAct={() => setOpen(true)}
        >
          {t('access.setPassword')}
        </ActionButton>
      </div>
      <Dialog title={t('access.setPassword')} isOpen={isOpen} onClose={() => setOpen(false)}>
        <Form
          fields={resetVpsPassword}
          submit={t('access.setPassword')}
          onSubmit={async ({ password }) => {
            const answer = await client.post('/dashboard/service/{id}/vps/reset-password', {
              path: { id },
              body: password === undefined ? {} : { password },
            });
            await queries.invalidateQueries({ queryKey: ['vps', id] });
            setMade(answer.password);
            setSet(true);
            setOpen(false);
          }}
        >
          <NewPassword
            name="password"
            label={t('order.password')}
            help={t('access.passwordHelp')}
            required={false}
          />
        </Form>
      </Dialog>
    </Section>
  );
}
