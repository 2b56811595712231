import { createShieldRule } from '../../../client/generated/fields/createShieldRule.ts';
import { updateShieldRule } from '../../../client/generated/fields/updateShieldRule.ts';
import type { Schema } from '../../../client/index.ts';
import { client } from '../data/client.ts';
import { drawnOf, partOf } from '../data/drawn.ts';
import { useText } from '../text/index.ts';
import { Form, WithoutCode } from '../ui/index.ts';
import { type DraftRule, type Words, wordsOf } from './draft.ts';
import { RuleFields } from './RuleFields.tsx';
import { wordsIn } from './ruleForm.ts';
import type { Warning } from './Warnings.tsx';

interface NewRuleProps {
  destination: string;
  /** Where it would stand: behind all others. */
  order: number;
  onDone: (warnings: readonly Warning[]) => Promise<unknown>;
}

/** A rule that is made, in force within about a second. */
export function NewRule({ destination, order, onDone }: NewRuleProps) {
  const { t } = useText();
  return (
    <Form
      fields={createShieldRule}
      submit={t('shield.addRule')}
      onSubmit={async (values) => {
        const body = { ...wordsIn(values, Date.now()), destination, order: Number(values.order) };
        const { beside } = await client.whole('post', '/shield/v2/rules', { body });
        await onDone(beside.warnings);
      }}
    >
      <RuleFields rule={null} order={order} />
    </Form>
  );
}

interface ChangeRuleProps {
  id: number;
  onDone: (warnings: readonly Warning[]) => Promise<unknown>;
}

const shown = (rule: Schema<'ShieldRule'>) => ({ ...wordsOf(rule), order: rule.order });

/** A rule that is there, changed at once. */
export function ChangeRule({ id, onDone }: ChangeRuleProps) {
  const { t } = useText();
  const path = { id };
  return (
    <Form
      fields={updateShieldRule}
      submit={t('app.save')}
      of={partOf(drawnOf('/shield/v2/rules/{id}', { path }), ({ rule }) => shown(rule))}
      onSubmit={async (values, _files, ifMatch) => {
        const body = { ...wordsIn(values, Date.now()), order: Number(values.order) };
        const { beside } = await client.whole('patch', '/shield/v2/rules/{id}', { path, body, ifMatch });
        await onDone(beside.warnings);
      }}
    >
      {(now) => <RuleFields rule={now} order={now.order} />}
    </Form>
  );
}

interface DraftedRuleProps {
  /** Null: a new one. */
  rule: DraftRule | null;
  onDone: (words: Omit<Words, 'disabled'>) => void;
}

/** A rule of a draft: it stands where it is dragged to, and nothing is sent. */
export function DraftedRule({ rule, onDone }: DraftedRuleProps) {
  const { t } = useText();
  return (
    <WithoutCode>
      <Form
        fields={createShieldRule}
        submit={t('shield.toDraft')}
        onSubmit={async (values) => onDone(wordsIn(values, Date.now()))}
      >
        <RuleFields rule={rule} order={null} />
      </Form>
    </WithoutCode>
  );
}
