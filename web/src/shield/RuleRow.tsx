import type { ReactNode } from 'react';
import type { Schema } from '../../../client/index.ts';
import { bytes, moment } from '../text/formats.ts';
import { useText } from '../text/index.ts';
import { Button, LinkTo, State, Text } from '../ui/index.ts';
import { usePresetName } from './presetName.ts';
import { type Row, type Shown, stateOf, stateOfAll } from './rows.ts';
import { useSayRule } from './say.ts';
import { useRates, useSayRate } from './useRates.ts';

type Rule = Schema<'ShieldRule'>;

interface RuleRowProps {
  row: Row;
  isWide: boolean;
  limiter: string | null;
  handle: ReactNode;
  acts: ReactNode;
}

/** One rule: what it says, what the edge does about it, and how many packets it decided about. */
export function RuleRow({ row: { said, rule, difference }, isWide, limiter, handle, acts }: RuleRowProps) {
  const { t, language } = useText();
  const say = useSayRule();
  const sayRate = useSayRate();
  return (
    <div className="rule" data-off={said.disabled || undefined}>
      <div className="rule-handle">{handle}</div>
      <div className="rule-words">
        <p>
          <b data-action={said.action}>{say.action(said.action)}</b> {say.packets(said)}
        </p>
        {said.note !== null && <small className="rule-note">{said.note}</small>}
        <small>
          {[
            t('shield.orderIs', { order: said.order }),
            limiter !== null && t('shield.atMost', { name: limiter }),
            said.rate !== null &&
              t('shield.atMostRate', { rate: sayRate(said.rate), per: t(`shield.per_${said.rate.per}`) }),
            said.expires_at !== null && t('shield.endsAt', { time: moment(said.expires_at, language) }),
            isWide && t('shield.forNetwork', { network: said.destination }),
          ]
            .filter(Boolean)
            .join(' · ')}
        </small>
        {rule?.enforced.error != null && (
          <small className="rule-error" lang="en">
            {rule.enforced.error}
          </small>
        )}
      </div>
      <div className="rule-counters">{rule !== null && <Counters of={[rule]} />}</div>
      <div className="rule-state">
        {difference !== null ? (
          <State of={`draft_${difference}`} />
        ) : (
          rule !== null && <State of={stateOf(rule)} />
        )}
      </div>
      <div className="rule-acts">{acts}</div>
    </div>
  );
}

interface GroupRowProps {
  shown: Shown & { group: Schema<'ShieldGroup'> };
  handle: ReactNode;
  onUnfold: () => void;
  /** Where it is renewed and removed. */
  ip: string;
}

/** Rules that a preset made, as one. */
export function GroupRow({ shown: { rows, group }, handle, onUnfold, ip }: GroupRowProps) {
  const { t } = useText();
  const nameOf = usePresetName();
  const rules = rows.flatMap(({ rule }) => rule ?? []);
  const isMoved = rows.some(({ difference }) => difference !== null);
  const orders = [...new Set(rows.map(({ said }) => said.order))];
  return (
    <div className="rule">
      <div className="rule-handle">{handle}</div>
      <div className="rule-words">
        <p>
          <b>{nameOf(group.preset)}</b>
        </p>
        {group.note !== null && <small className="rule-note">{group.note}</small>}
        <small>
          {t('shield.orderIs', {
            order: orders.length > 1 ? `${orders[0]}–${orders.at(-1)}` : String(orders[0]),
          })}
          {' · '}
          {t('shield.rulesOf', { count: rows.length })}
        </small>
      </div>
      <div className="rule-counters">
        <Counters of={rules} />
      </div>
      <div className="rule-state">
        {isMoved ? <State of="draft_moved" /> : rules.length > 0 && <State of={stateOfAll(rules)} />}
      </div>
      <div className="rule-acts">
        <Button size="xs" variant="default" onClick={onUnfold}>
          {t('shield.unfold')}
        </Button>
        <LinkTo to="/shield/addresses/$ip/presets" params={{ ip }} size="sm">
          {t('shield.toPreset')}
        </LinkTo>
      </div>
    </div>
  );
}

/** Packets that rules decided about, and what went over their rates. */
function Counters({ of }: { of: readonly Rule[] }) {
  const { t, language } = useText();
  const { packets } = useRates();
  const sum = (name: keyof Rule['counters']) =>
    of.reduce((before, { counters }) => before + counters[name], 0);
  const dropped = sum('dropped_packets');
  return (
    <Text size="sm" component="div" className="counters">
      <span>{packets(sum('packets'))}</span>
      <small>{bytes(sum('bytes'), language)}</small>
      {dropped > 0 && <small>{t('shield.overRate', { packets: packets(dropped) })}</small>}
    </Text>
  );
}
