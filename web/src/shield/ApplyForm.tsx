import { useState } from 'react';
import { applyShieldRules } from '../../../client/generated/fields/applyShieldRules.ts';
import { ApiError, type DataOf, type OperationAt } from '../../../client/index.ts';
import { client } from '../data/client.ts';
import { lasting } from '../text/formats.ts';
import { useText } from '../text/index.ts';
import { Choice, Form, Text, Tick, Tiles } from '../ui/index.ts';
import { DraftRefusal } from './DraftRefusal.tsx';
import { bodyOf, type Draft } from './draft.ts';
import type { Warning } from './Warnings.tsx';

/** For so many seconds rules are tried out. */
const trials = [30, 60, 120, 300, 900, 3_600] as const;
const usually = 60;

interface ApplyFormProps {
  draft: Draft;
  address: string;
  onDone: (
    made: DataOf<OperationAt<'post', '/shield/v2/rules/apply'>>,
    warnings: readonly Warning[],
  ) => Promise<unknown>;
}

/** How a draft is put in force: tried out first, unless somebody is sure. */
export function ApplyForm({ draft, address, onDone }: ApplyFormProps) {
  const { t, language } = useText();
  const [how, setHow] = useState('trial');
  const [refused, setRefused] = useState<unknown>(null);
  const wouldLockOut = refused instanceof ApiError && refused.code === 'would_lock_out';
  return (
    <Form
      fields={applyShieldRules}
      submit={t(how === 'trial' ? 'shield.tryOut' : 'shield.applyNow')}
      onSubmit={async ({ seconds, force }) => {
        const body = {
          ...bodyOf(draft, address),
          ...(how === 'trial' ? { confirm_within_s: Number(seconds) } : { force: force === 'on' }),
        };
        const call = client.whole('post', '/shield/v2/rules/apply', { body });
        const { data, beside } = await call.catch((error: unknown) => {
          setRefused(error);
          throw error;
        });
        await onDone(data, beside.warnings);
      }}
    >
      <Tiles
        name="how"
        legend={t('shield.howToApply')}
        value={how}
        onChoose={setHow}
        tiles={(['trial', 'good'] as const).map((value) => ({
          value,
          label: t(`shield.apply_${value}`),
          note: t(`shield.apply_${value}Text`),
        }))}
      />
      {how === 'trial' ? (
        <Choice
          name="seconds"
          label={t('shield.tryFor')}
          defaultValue={String(usually)}
          choices={trials.map((value) => ({ value: String(value), label: lasting(value, language) }))}
        />
      ) : (
        wouldLockOut && <Tick name="force" label={t('shield.force')} help={t('shield.forceHelp')} />
      )}
      {how === 'good' && (
        <Text size="sm" c="dimmed">
          {t('shield.goodText')}
        </Text>
      )}
      {refused instanceof ApiError && refused.code === 'invalid_request' && (
        <DraftRefusal error={refused} draft={draft} address={address} />
      )}
    </Form>
  );
}
