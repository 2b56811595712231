import { useQueryClient } from '@tanstack/react-query';
import { useParams } from '@tanstack/react-router';
import { updateSensitivity } from '../../../client/generated/fields/updateSensitivity.ts';
import type { BodyOf, OperationAt, Schema } from '../../../client/index.ts';
import { client } from '../data/client.ts';
import { drawnOf, partOf } from '../data/drawn.ts';
import { choicesOf } from '../data/fields.ts';
import { useText } from '../text/index.ts';
import { Choice, Form, LongField, Section, Stack, Text, Tick, type Values } from '../ui/index.ts';
import './shield.css';
import { type Kind, ThresholdFields, thresholdsIn, type Unit } from './Thresholds.tsx';
import { useRates } from './useRates.ts';

type Sensitivity = Schema<'ShieldSensitivity'>;
type Change = BodyOf<OperationAt<'patch', '/shield/v2/sensitivity/{ip}'>>;

/** From where on traffic to an address is an attack, and what is done about it. */
export function Detection() {
  const { t } = useText();
  const { ip } = useParams({ from: '/in/shield/addresses/$ip' });
  const queries = useQueryClient();
  const path = { ip };
  return (
    <Form
      fields={updateSensitivity}
      submit={t('app.save')}
      of={partOf(drawnOf('/shield/v2/sensitivity/{ip}', { path }), ({ sensitivity }) => sensitivity)}
      onSubmit={async (values, _files, ifMatch) => {
        const body = changeIn(values);
        const { sensitivity } = await client.patch('/shield/v2/sensitivity/{ip}', { path, body, ifMatch });
        await queries.invalidateQueries({ queryKey: ['shield'] });
        return sensitivity;
      }}
    >
      {(now) => <DetectionFields now={now} />}
    </Form>
  );
}

/** What was typed; what is empty goes by the product, or the level, again. */
function changeIn(values: Values): Change {
  const chosen = (name: string) => (values[name] ?? null) as never;
  return {
    ...{ level: chosen('level'), mode: chosen('mode'), mitigation: chosen('mitigation') },
    thresholds: thresholdsIn(values),
    whitelist: (values.whitelist ?? '').split(/[\s,;]+/).filter((each) => each !== ''),
    synproxy: values.synproxy === 'on',
    blackhole: values.blackhole === 'on',
  };
}

function DetectionFields({ now }: { now: Sensitivity }) {
  const { t } = useText();
  const { inSecond, bitsInSecond } = useRates();
  /** One's own word, or what is so without it. */
  const choices = <Value extends string>(
    name: 'level' | 'mode' | 'mitigation',
    field: { choices: readonly Value[] },
    label: (value: Value) => string,
  ) => {
    const isOwn = now.set_by[name] === 'own';
    const usual = isOwn ? t('shield.asSold') : t('shield.asSoldIs', { value: label(now[name] as Value) });
    return {
      defaultValue: isOwn ? now[name] : '',
      choices: [{ value: '', label: usual }, ...choicesOf(field, label)],
    };
  };
  const help = (kind: Kind, unit: Unit) => {
    const { value = null, by = 'level' } = now.limits?.[kind]?.[unit] ?? {};
    if (value === null) return t('shield.noLimit');
    const rate = unit === 'pps' ? inSecond(value) : bitsInSecond(value * 1e6);
    return t(`shield.limitBy_${by}`, { rate });
  };
  return (
    <Stack gap="lg">
      <Section title={t('shield.detection')}>
        <Choice
          name="level"
          label={t('shield.level')}
          help={t('shield.levelHelp')}
          {...choices('level', updateSensitivity.level, (value) => t(`shield.level_${value}`))}
        />
        <Choice
          name="mode"
          label={t('shield.mode')}
          help={t('shield.modeHelp')}
          {...choices('mode', updateSensitivity.mode, (value) => t(`shield.mode_${value}`))}
        />
        <Choice
          name="mitigation"
          label={t('shield.mitigation')}
          help={t('shield.mitigationHelp')}
          {...choices('mitigation', updateSensitivity.mitigation, (value) => t(`shield.mitigation_${value}`))}
        />
        <LongField
          name="whitelist"
          label={t('shield.whitelist')}
          help={t('shield.whitelistHelp')}
          required={false}
          rows={2}
          defaultValue={now.whitelist.join('\n')}
        />
        <Tick
          name="synproxy"
          label={t('shield.synproxy')}
          help={t('shield.synproxyHelp')}
          defaultChecked={now.synproxy}
        />
        <Tick
          name="blackhole"
          label={t('shield.blackhole')}
          help={t('shield.blackholeHelp')}
          defaultChecked={now.blackhole}
        />
      </Section>
      <Section title={t('shield.thresholds')}>
        <Text size="sm" c="dimmed">
          {t('shield.thresholdsText')} <Usual usual={now.usual} />
        </Text>
        <ThresholdFields now={now.thresholds} help={help} />
      </Section>
    </Stack>
  );
}

/** What usually comes, where that is known. */
function Usual({ usual }: Pick<Sensitivity, 'usual'>) {
  const { t } = useText();
  const { inSecond, bitsInSecond } = useRates();
  if (usual === null) return null;
  const rate = `${inSecond(usual.pps)}, ${bitsInSecond(usual.mbps * 1e6)}`;
  return t(usual.enough ? 'shield.usually' : 'shield.usuallySoFar', { rate, count: usual.hours });
}
