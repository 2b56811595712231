import type { Schema } from '../../../client/index.ts';
import { useText } from '../text/index.ts';
import { Alert, Bullets, Button } from '../ui/index.ts';
import { type SayRule, useSayRule } from './say.ts';

export type Warning = Schema<'ShieldWarning'>;
type Known = Parameters<SayRule['whole']>[0] & { id: number | null };

interface WarningsProps {
  warnings: readonly Warning[];
  /** Rules that they may name, as they are called on the page. */
  rules: readonly Known[];
  onClose?: () => void;
}

/** What may surprise about rules that were taken all the same. */
export function Warnings({ warnings, rules, onClose }: WarningsProps) {
  const { t } = useText();
  const say = useSayRule();
  if (warnings.length === 0) return null;
  const nameOf = (id: number | null) => {
    const rule = rules.find((each) => each.id === id);
    return rule === undefined ? t('shield.newRule') : say.whole(rule);
  };
  const sentence = ({ code, message, rule_id, shadowed_by }: Warning) => {
    if (code === 'never_matches')
      return t('shield.warning_never_matches', { rule: nameOf(rule_id), by: nameOf(shadowed_by) });
    if (code === 'drops_answers')
      return t('shield.warning_drops_answers', { name: /\bNTP\b/.test(message) ? 'NTP' : 'DNS' });
    return t('shield.warning_shuts_out_caller');
  };
  return (
    <Alert color="orange" title={t('shield.warnings')} role="status">
      <Bullets size="sm">
        {[...new Set(warnings.map(sentence))].map((each) => (
          <Bullets.Item key={each}>{each}</Bullets.Item>
        ))}
      </Bullets>
      {onClose !== undefined && (
        <Button size="xs" variant="default" mt="xs" onClick={onClose}>
          {t('app.close')}
        </Button>
      )}
    </Alert>
  );
}
