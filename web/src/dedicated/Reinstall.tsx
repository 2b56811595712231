import { useQuery, useQueryClient } from '@tanstack/react-query';
import { useState } from 'react';
import { reinstallDedicatedServer } from '../../../client/generated/fields/reinstallDedicatedServer.ts';
import type { Schema } from '../../../client/index.ts';
import { client } from '../data/client.ts';
import { product, server, serverHardware, service, sshKeys } from '../data/queries/index.ts';
import { bytes, diskKind } from '../text/formats.ts';
import { useText } from '../text/index.ts';
import {
  Alert,
  Bullets,
  Field,
  Form,
  LongField,
  NewPassword,
  Refusal,
  Section,
  Skeleton,
  Stack,
  Text,
  Tick,
  Tiles,
} from '../ui/index.ts';
import { KeyChoice } from '../vps/KeyChoice.tsx';
import { Begun } from './Begun.tsx';

const layouts = ['usual', 'single', 'raid1'] as const;
type Layout = (typeof layouts)[number];
type Disk = NonNullable<Schema<'DedicatedHardware'>['hardware']>['disks'][number];

/** Another system on the disks of a server, or the same one anew. */
export function ReinstallServer({ id }: { id: number }) {
  const { t } = useText();
  const queries = useQueryClient();
  const { data: found } = useQuery(server(id));
  const { data: owned } = useQuery(service(id));
  const sold = useQuery({ ...product(owned?.product.id ?? 0), enabled: owned !== undefined });
  const hardware = useQuery(serverHardware(id));
  const keys = useQuery(sshKeys);
  const [os, setOs] = useState<string | null>(null);
  const [layout, setLayout] = useState<Layout>('usual');
  const [serials, setSerials] = useState<ReadonlySet<string>>(new Set());
  const [changed, setChanged] = useState<ReadonlySet<number> | null>(null);
  const [typed, setTyped] = useState('');
  const [done, setDone] = useState<{ password: string | null } | null>(null);
  if (done !== null) return <Begun title={t('reinstall.title')} text={t('reinstall.begun')} {...done} />;
  if (found === undefined || owned === undefined || sold.isPending || keys.isPending)
    return <Skeleton height={320} />;
  const action = found.actions.reinstall;
  if (!action.allowed)
    return (
      <Section title={t('reinstall.title')}>
        <Alert color="orange">{action.reason}</Alert>
      </Section>
    );
  // Systems are an option of the product; of one that is not sold any more only the present one is known.
  const offered = sold.data?.options.find(({ key }) => key === 'option6')?.values ?? [];
  const systems =
    offered.length > 0 ? offered : [{ value: found.os.slug, label: found.os.name ?? found.os.slug }];
  const system = os ?? (systems.find(({ value }) => value === found.os.slug) ?? systems[0])?.value ?? '';
  const chosen = changed ?? new Set(keys.data?.map((each) => each.id));
  const disks = hardware.data?.hardware?.disks ?? [];
  return (
    <Section title={t('reinstall.title')}>
      <Alert color="red" title={t('reinstall.lost')}>
        <Bullets size="sm">
          <Bullets.Item>{t('again.lostDisks')}</Bullets.Item>
          <Bullets.Item>{t('again.stays')}</Bullets.Item>
          <Bullets.Item>{t('again.noBackups')}</Bullets.Item>
        </Bullets>
      </Alert>
      <Refusal error={keys.error ?? hardware.error} onRetry={() => void keys.refetch()} />
      <Form
        fields={reinstallDedicatedServer}
        submit={t('again.submit')}
        isReady={typed.trim() === found.hostname}
        onSubmit={async ({ password, hostname, user_data }) => {
          const answer = await client.post('/dashboard/service/{id}/dedicated/reinstall', {
            path: { id },
            body: {
              ...{ os: system, ssh_key_ids: [...chosen], confirm: typed.trim() },
              ...(password !== undefined && { password }),
              ...(hostname !== undefined && { hostname }),
              ...(user_data !== undefined && { user_data }),
              ...(layout !== 'usual' && {
                disks: { layout, ...(serials.size > 0 && { serials: [...serials] }) },
              }),
            },
          });
          await queries.invalidateQueries({ queryKey: ['dedicated', id] });
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
        <Field name="hostname" label={t('order.hostname')} required defaultValue={found.hostname} />
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
        <Tiles
          name="disks.layout"
          legend={t('again.layout')}
          tiles={layouts.map((value) => ({
            value,
            label: t(`again.layout_${value}`),
            note: t(`again.layout_${value}Text`),
          }))}
          value={layout}
          onChoose={(value) => setLayout(layouts.find((each) => each === value) ?? 'usual')}
        />
        {layout !== 'usual' && <Disks of={disks} chosen={serials} onChoose={setSerials} />}
        <Field
          name="confirm"
          label={t('app.typeName', { name: found.hostname })}
          required={false}
          autoComplete="off"
          onType={setTyped}
        />
      </Form>
    </Section>
  );
}

interface DisksProps {
  of: readonly Disk[];
  chosen: ReadonlySet<string>;
  onChoose: (chosen: ReadonlySet<string>) => void;
}

/** Where the system goes; what is not chosen stays as it is. */
function Disks({ of, chosen, onChoose }: DisksProps) {
  const { t, language } = useText();
  const turn = (serial: string, isIn: boolean) => {
    const next = new Set(chosen);
    if (isIn) next.add(serial);
    else next.delete(serial);
    onChoose(next);
  };
  return (
    <Stack gap="xs">
      <Text size="sm" fw={600}>
        {t('server.disks')}
      </Text>
      <Text size="sm" c="dimmed">
        {t('again.disksHelp')}
      </Text>
      {of.map((disk) => (
        <Tick
          key={disk.serial}
          name={`disk-${disk.serial}`}
          label={`${diskKind(disk.kind)} · ${bytes(disk.bytes, language)} · ${disk.serial}`}
          help={disk.model}
          isOn={chosen.has(disk.serial)}
          onChange={(isIn) => turn(disk.serial, isIn)}
        />
      ))}
    </Stack>
  );
}
