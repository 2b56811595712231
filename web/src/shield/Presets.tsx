import { useMutation, useQuery, useQueryClient } from '@tanstack/react-query';
import { useParams } from '@tanstack/react-router';
import { Fragment, useState } from 'react';
import { createShieldGroup } from '../../../client/generated/fields/createShieldGroup.ts';
import type { Schema } from '../../../client/index.ts';
import { client } from '../data/client.ts';
import { shieldIp, shieldPresets } from '../data/queries/index.ts';
import { day, moment } from '../text/formats.ts';
import { useText } from '../text/index.ts';
import {
  ActionButton,
  Anchor,
  Confirm,
  Dialog,
  Field,
  Form,
  Group,
  List,
  LongField,
  Paper,
  Refusal,
  Section,
  Skeleton,
  Stack,
  Text,
  Title,
} from '../ui/index.ts';
import './shield.css';
import { usePresetName, useSayPreset } from './presetName.ts';
import { numberIn } from './ruleForm.ts';
import { useMayManage } from './useMayManage.ts';
import { type Warning, Warnings } from './Warnings.tsx';

type Preset = Schema<'ShieldPreset'>;
type ShieldGroup = Schema<'ShieldGroup'>;

/** Rules that are made together: those that an address has, and those that there are. */
export function Presets() {
  const { t, language } = useText();
  const { ip } = useParams({ from: '/in/shield/addresses/$ip' });
  const queries = useQueryClient();
  const nameOf = usePresetName();
  const mayManage = useMayManage();
  const { data: found } = useQuery(shieldIp(ip));
  const all = useQuery(shieldPresets);
  const [chosen, setChosen] = useState<Preset | null>(null);
  const [leaving, setLeaving] = useState<ShieldGroup | null>(null);
  const [warnings, setWarnings] = useState<readonly Warning[]>([]);
  const readAnew = () => queries.invalidateQueries({ queryKey: ['shield'] });
  const renew = useMutation({
    mutationFn: async ({ id, destination, preset, note, ips, ports }: ShieldGroup) => {
      const body = { id, destination, preset, note, ports, ...(ips.length > 0 && { ips }) };
      const { beside } = await client.whole('post', '/shield/v2/rules/presets', { body });
      setWarnings(beside.warnings);
    },
    onSettled: readAnew,
  });
  const remove = useMutation({
    mutationFn: (id: number) => client.delete('/shield/v2/rules/groups/{id}', { path: { id } }),
    onSettled: readAnew,
  });
  if (found === undefined) return null;
  const { address, family } = found.ip;
  const rulesOf = ({ rules }: Preset) => (family.value === 4 ? rules.ipv4 : rules.ipv6);
  const isNewer = ({ preset, dated }: ShieldGroup) => {
    const now = all.data?.find(({ name }) => name === preset)?.dated ?? null;
    return now !== null && dated !== null && now > dated;
  };
  return (
    <Stack gap="lg">
      <Warnings warnings={warnings} rules={found.rules} onClose={() => setWarnings([])} />
      <Refusal error={renew.error ?? remove.error} />
      {found.groups.length > 0 && (
        <Section title={t('shield.presetsUsed')}>
          <List
            label={t('shield.presetsUsed')}
            items={found.groups}
            keyOf={({ id }) => id}
            columns={[
              {
                name: t('shield.preset'),
                cell: ({ preset, note, destination, ips, ports }) => (
                  <div>
                    <Text fw={600}>{nameOf(preset)}</Text>
                    {note !== null && <Small>{note}</Small>}
                    {destination !== address && (
                      <Small>{t('shield.forNetwork', { network: destination })}</Small>
                    )}
                    {ports !== null && <Small>{t('shield.portsAre', { list: ports.join(', ') })}</Small>}
                    {ips.length > 0 && <Small>{ips.join(', ')}</Small>}
                  </div>
                ),
              },
              {
                name: t('shield.rules'),
                isNumber: true,
                cell: ({ id }) => found.rules.filter(({ group_id }) => group_id === id).length,
              },
              {
                name: t('shield.madeAt'),
                cell: ({ updated_at }) => moment(String(updated_at), language),
              },
              {
                name: t('shield.listOf'),
                cell: (group) =>
                  group.dated === null ? (
                    '–'
                  ) : (
                    <>
                      {day(group.dated, language)}
                      {isNewer(group) && <> · {t('shield.newerList')}</>}
                    </>
                  ),
              },
              {
                name: t('app.actions'),
                isNumber: true,
                cell: (group) => (
                  <Group gap="xs" justify="end">
                    <ActionButton
                      size="xs"
                      variant="default"
                      action={mayManage}
                      loading={renew.isPending && renew.variables.id === group.id}
                      onAct={() => renew.mutate(group)}
                    >
                      {t('shield.renew')}
                    </ActionButton>
                    <ActionButton
                      size="xs"
                      variant="default"
                      action={mayManage}
                      onAct={() => setLeaving(group)}
                    >
                      {t('app.remove')}
                    </ActionButton>
                  </Group>
                ),
              },
            ]}
            error={null}
            onRetry={() => undefined}
            empty={null}
          />
          <Text size="sm" c="dimmed">
            {t('shield.renewText')}
          </Text>
        </Section>
      )}
      <Section title={t('shield.presets')}>
        <Text size="sm" c="dimmed">
          {t('shield.presetsText')}
        </Text>
        {all.error !== null && <Refusal error={all.error} onRetry={() => void all.refetch()} />}
        {all.isPending && <Skeleton height={240} />}
        <div className="preset-list">
          {all.data?.map((preset) => (
            <OnePreset
              key={preset.name}
              preset={preset}
              count={rulesOf(preset)}
              onUse={() => setChosen(preset)}
            />
          ))}
        </div>
      </Section>
      <Dialog
        title={chosen === null ? '' : nameOf(chosen.name, chosen.title)}
        isOpen={chosen !== null}
        onClose={() => setChosen(null)}
      >
        {chosen !== null && (
          <UsePreset
            preset={chosen}
            destination={address}
            family={family.value === 4 ? 'ipv4' : 'ipv6'}
            onDone={async (next) => {
              setWarnings(next);
              setChosen(null);
              await readAnew();
            }}
          />
        )}
      </Dialog>
      <Confirm
        isOpen={leaving !== null}
        title={t('shield.removePreset', { name: leaving === null ? '' : nameOf(leaving.preset) })}
        text={t('shield.removePresetText', {
          count: found.rules.filter(({ group_id }) => group_id === leaving?.id).length,
        })}
        button={t('app.remove')}
        onClose={() => setLeaving(null)}
        onConfirm={() => {
          if (leaving !== null) remove.mutate(leaving.id);
          setLeaving(null);
        }}
      />
    </Stack>
  );
}

const Small = ({ children }: { children: string }) => (
  <Text size="sm" c="dimmed" style={{ overflowWrap: 'anywhere' }}>
    {children}
  </Text>
);

function OnePreset({ preset, count, onUse }: { preset: Preset; count: number; onUse: () => void }) {
  const { t, language } = useText();
  const nameOf = usePresetName();
  const say = useSayPreset();
  const mayManage = useMayManage();
  const { name, title, description, dated, sources } = preset;
  // Where its lists are from is said by links of ours, with words between them.
  const links = sources?.match(/https:\/\/[^\s,]+/g) ?? [];
  return (
    <Paper withBorder p="md">
      <Stack gap="xs" h="100%" justify="space-between">
        <div>
          <Title order={3} size="h5">
            {nameOf(name, title)}
          </Title>
          <Text size="sm">{say(name, 'text', description)}</Text>
          <Text size="sm" c="dimmed">
            {t('shield.rulesOf', { count })}
            {dated !== null && <> · {t('shield.listDated', { day: day(dated, language) })}</>}
            {links.length > 0 && <> · {t('shield.listFrom')}</>}
            {links.map((link) => (
              <Fragment key={link}>
                {' '}
                <Anchor
                  href={link}
                  target="_blank"
                  rel="noreferrer"
                  size="sm"
                  style={{ overflowWrap: 'anywhere' }}
                >
                  {link.replace(/^https:\/\//, '')}
                </Anchor>
              </Fragment>
            ))}
          </Text>
        </div>
        <ActionButton
          size="sm"
          variant="default"
          action={mayManage}
          onAct={onUse}
          aria-label={t('shield.usePreset', { name: nameOf(name, title) })}
          style={{ alignSelf: 'flex-start' }}
        >
          {t('shield.use')}
        </ActionButton>
      </Stack>
    </Paper>
  );
}

interface UsePresetProps {
  preset: Preset;
  destination: string;
  family: 'ipv4' | 'ipv6';
  onDone: (warnings: readonly Warning[]) => Promise<unknown>;
}

const listIn = (typed = '') => typed.split(/[\s,;]+/).filter((each) => each !== '');

function UsePreset({ preset, destination, family, onDone }: UsePresetProps) {
  const { t, language } = useText();
  const say = useSayPreset();
  const { name, description, ips, ports } = preset;
  return (
    <Form
      fields={createShieldGroup}
      submit={t('shield.use')}
      onSubmit={async (values) => {
        const listed = listIn(values.ips);
        const body = {
          ...{ preset: name, destination },
          ...(values.note !== undefined && { note: values.note }),
          ...(listed.length > 0 && { ips: listed }),
          ...(ports !== null && { ports: listIn(values.ports).map(numberIn) }),
        };
        const { beside } = await client.whole('post', '/shield/v2/rules/presets', { body });
        await onDone(beside.warnings);
      }}
    >
      <Text size="sm">{language === 'en' ? description : say(name, 'text', description)}</Text>
      {ports !== null && (
        <Field
          name="ports"
          label={t('shield.gamePorts')}
          help={t('shield.gamePortsHelp')}
          defaultValue={ports[family].join(', ')}
        />
      )}
      {ips !== null && (
        <LongField
          name="ips"
          label={say(name, 'ips', ips)}
          help={t('shield.ipsHelp')}
          required={false}
          rows={2}
        />
      )}
      <Field name="note" label={t('shield.note')} help={t('shield.noteHelp')} required={false} />
    </Form>
  );
}
