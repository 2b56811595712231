import { useQuery, useQueryClient } from '@tanstack/react-query';
import { useParams } from '@tanstack/react-router';
import { useState } from 'react';
import { rescueDedicatedServer } from '../../../client/generated/fields/rescueDedicatedServer.ts';
import { client } from '../data/client.ts';
import { server, service, sshKeys } from '../data/queries/index.ts';
import { useText } from '../text/index.ts';
import { Alert, Bullets, Form, NewPassword, Refusal, Section, Skeleton, Stack, Text } from '../ui/index.ts';
import { KeyChoice } from '../vps/KeyChoice.tsx';
import { Begun } from './Begun.tsx';

/** A system of ours in the memory of a server, and its own disks again. */
export function Rescue() {
  const { t } = useText();
  const id = Number(useParams({ from: '/in/services/$id' }).id);
  const { data: owned } = useQuery(service(id));
  const { data: found } = useQuery({ ...server(id), enabled: owned?.on_server === true });
  const [done, setDone] = useState<{ text: string; password: string | null } | null>(null);
  if (owned?.on_server === false) return <Text>{t('again.noRescue')}</Text>;
  if (found === undefined) return <Skeleton height={320} />;
  const title = t('again.rescue');
  // What was said when it began holds until it has ended, and the page is another then.
  if (done !== null && (found.locked || done.password !== null)) return <Begun title={title} {...done} />;
  const action = found.state === 'rescue' ? found.actions.rescue_off : found.actions.rescue;
  if (!action.allowed)
    return (
      <Section title={title}>
        <Alert color="orange">{action.reason}</Alert>
      </Section>
    );
  const begun = (text: string) => (password: string | null) => setDone({ text, password });
  return found.actions.rescue_off.allowed ? (
    <TurnOff id={id} onDone={begun(t('again.offBegun'))} />
  ) : (
    <TurnOn id={id} onDone={begun(t('again.rescueBegun'))} />
  );
}

interface TurnProps {
  id: number;
  onDone: (password: string | null) => void;
}

function TurnOn({ id, onDone }: TurnProps) {
  const { t } = useText();
  const queries = useQueryClient();
  const keys = useQuery(sshKeys);
  const [changed, setChanged] = useState<ReadonlySet<number> | null>(null);
  const chosen = changed ?? new Set(keys.data?.map((each) => each.id));
  if (keys.isPending) return <Skeleton height={320} />;
  return (
    <Section title={t('again.rescue')}>
      <Alert color="orange" title={t('again.rescueHow')}>
        <Bullets size="sm">
          <Bullets.Item>{t('again.rescueRestart')}</Bullets.Item>
          <Bullets.Item>{t('again.rescueDisks')}</Bullets.Item>
          <Bullets.Item>{t('again.rescueStays')}</Bullets.Item>
        </Bullets>
      </Alert>
      <Refusal error={keys.error} onRetry={() => void keys.refetch()} />
      <Form
        fields={rescueDedicatedServer}
        submit={t('again.rescueOn')}
        onSubmit={async ({ password }) => {
          const answer = await client.post('/dashboard/service/{id}/dedicated/rescue', {
            path: { id },
            body: { enabled: true, ssh_key_ids: [...chosen], ...(password !== undefined && { password }) },
          });
          await queries.invalidateQueries({ queryKey: ['dedicated', id] });
          onDone(answer.password);
        }}
      >
        <Stack gap="xs">
          <Text size="sm" fw={600}>
            {t('access.keys')}
          </Text>
          <KeyChoice keys={keys.data ?? []} chosen={chosen} onChoose={setChanged} />
        </Stack>
        <NewPassword
          name="password"
          label={t('order.password')}
          help={t('access.passwordHelp')}
          required={false}
        />
      </Form>
    </Section>
  );
}

function TurnOff({ id, onDone }: TurnProps) {
  const { t } = useText();
  const queries = useQueryClient();
  return (
    <Section title={t('again.rescue')}>
      <Alert color="orange">{t('again.inRescue')}</Alert>
      <Form
        fields={rescueDedicatedServer}
        submit={t('again.rescueOff')}
        onSubmit={async () => {
          await client.post('/dashboard/service/{id}/dedicated/rescue', {
            path: { id },
            body: { enabled: false },
          });
          await queries.invalidateQueries({ queryKey: ['dedicated', id] });
          onDone(null);
        }}
      >
        <Text>{t('again.rescueOffText')}</Text>
      </Form>
    </Section>
  );
}
