import { useQuery, useQueryClient } from '@tanstack/react-query';
import { useParams } from '@tanstack/react-router';
import { useState } from 'react';
import { reinstallVps } from '../../../client/generated/fields/reinstallVps.ts';
import { client } from '../data/client.ts';
import { machine, machineKeys, product, service } from '../data/queries/index.ts';
import { useText } from '../text/index.ts';
import {
  Alert,
  Bullets,
  Copy,
  Field,
  Form,
  LinkTo,
  LongField,
  NewPassword,
  Refusal,
  Section,
  Skeleton,
  Stack,
  Text,
  Tiles,
} from '../ui/index.ts';
import { KeyChoice } from './KeyChoice.tsx';

/** Another system, or the same one anew. */
export function Reinstall() {
  const { t } = useText();
  const { id: given } = useParams({ from: '/in/services/$id' });
  const id = Number(given);
  const queries = useQueryClient();
  const { data: vps } = useQuery(machine(id));
  const { data: owned } = useQuery(service(id));
  const sold = useQuery({ ...product(owned?.product.id ?? 0), enabled: owned !== undefined });
  const keys = useQuery(machineKeys(id));
  const [os, setOs] = useState<string | null>(null);
  const [changed, setChanged] = useState<ReadonlySet<number> | null>(null);
  const [typed, setTyped] = useState('');
  const [done, setDone] = useState<{ password: string | null } | null>(null);
  if (vps === undefined || owned === undefined || sold.isPending || keys.isPending)
    return <Skeleton height={320} />;
  // Systems are an option of the product; of one that is not sold any more only the present one is known.
  const offered = sold.data?.options.find(({ key }) => key === 'option6')?.values ?? [];
  const systems = offered.length > 0 ? offered : [{ value: vps.os.slug, label: vps.os.name ?? vps.os.slug }];
  const system = os ?? (systems.find(({ value }) => value === vps.os.slug) ?? systems[0])?.value ?? '';
  const chosen = changed ?? new Set(keys.data?.map((each) => each.id));
  if (done !== null)
    return (
      <Section title={t('reinstall.title')}>
        <Text role="status">{t('reinstall.begun')}</Text>
        {done.password !== null && (
          <Stack gap="xs">
            <Text size="sm">{t('access.passwordOnce')}</Text>
            <Copy text={done.password} />
          </Stack>
        )}
      </Section>
    );
  const action = vps.actions.reinstall;
  if (!action.allowed)
    return (
      <Section title={t('reinstall.title')}>
        <Alert color="orange">{action.reason}</Alert>
      </Section>
    );
  return (
    <Section title={t('reinstall.title')}>
      <Alert color="red" title={t('reinstall.lost')}>
        <Bullets size="sm">
          <Bullets.Item>{t('reinstall.lostDisk')}</Bullets.Item>
          <Bullets.Item>{t('reinstall.lostSnapshots')}</Bullets.Item>
          <Bullets.Item>{t('reinstall.stays')}</Bullets.Item>
          <Bullets.Item>{t('reinstall.noSnapshot')}</Bullets.Item>
        </Bullets>
      </Alert>
      <LinkTo to="/services/$id/snapshots" params={{ id: given }} size="sm">
        {t('reinstall.lookFirst')}
      </LinkTo>
      <Refusal error={keys.error} onRetry={() => void keys.refetch()} />
      <Form
        fields={reinstallVps}
        submit={t('reinstall.submit')}
        isReady={typed.trim() === vps.hostname}
        onSubmit={async ({ password, hostname, user_data }) => {
          const answer = await client.post('/dashboard/service/{id}/vps/reinstall', {
            path: { id },
            body: {
              os: system,
              ssh_key_ids: [...chosen],
              ...(password !== undefined && { password }),
              ...(hostname !== undefined && { hostname }),
              ...(user_data !== undefined && { user_data }),
            },
          });
          await queries.invalidateQueries({ queryKey: ['vps', id] });
          setDone({ password: answer.password });
        }}
      >
        <Tiles
          name="os"
          legend={t('machine.system')}
          tiles={systems.map(({ value, label }) => ({ value, label }))}
          value={system}
          onChoose={setOs}
        />
        <Field name="hostname" label={t('order.hostname')} required defaultValue={vps.hostname} />
        <NewPassword
          name="password"
          label={t('order.password')}
          help={t('access.passwordHelp')}
          required={false}
        />
        <Stack gap="xs">
          <Text size="sm" fw={600}>
            {t('access.keys')}
          </Text>
          <KeyChoice keys={keys.data ?? []} chosen={chosen} onChoose={setChanged} />
        </Stack>
        <LongField
          name="user_data"
          label={t('reinstall.userData')}
          help={t('reinstall.userDataHelp')}
          required={false}
        />
        <Field
          name="confirmation"
          label={t('app.typeName', { name: vps.hostname })}
          required={false}
          autoComplete="off"
          onType={setTyped}
        />
      </Form>
    </Section>
  );
}
