import { useQuery } from '@tanstack/react-query';
import type { DataOf, OperationAt } from '../../../client/index.ts';
import { shieldIp } from '../data/queries/index.ts';
import { isText, useText } from '../text/index.ts';
import { LinkTo, Section, Text } from '../ui/index.ts';
import { useSayRule } from './say.ts';

type Explained = DataOf<OperationAt<'post', '/shield/v2/rules/explain'>>;

/** The rule that decides, and the way to it. */
export function Decided({ explained, ip }: { explained: Explained; ip: string }) {
  const { t } = useText();
  const say = useSayRule();
  const { data: found } = useQuery(shieldIp(ip));
  const { action, rule_id, limited, in_force, way, live } = explained;
  const nameOf = (id: number) => {
    const rule = found?.rules.find((each) => each.id === id);
    return rule === undefined ? t('shield.ruleOf', { id }) : say.whole(rule);
  };
  const unmetOf = (unmet: readonly string[]) =>
    unmet
      .map((part) => (isText(`shield.part_${part}`) ? t(`shield.part_${part as 'source'}`) : part))
      .join(', ');
  return (
    <Section title={t('shield.answer')}>
      <Text role="status">
        <b data-action={action}>{t(action === 'permit' ? 'shield.isLetIn' : 'shield.isDropped')}</b>{' '}
        {rule_id === null ? t('shield.byNoRule') : t('shield.byRule', { rule: nameOf(rule_id) })}
      </Text>
      {limited && <Text size="sm">{t('shield.isLimited')}</Text>}
      {!in_force && <Text size="sm">{t('shield.wayNotInForce')}</Text>}
      {way.length > 0 && (
        <ol className="way">
          {way.map(({ rule_id: id, matches, unmet }) => (
            <li key={id} data-decides={matches || undefined}>
              <LinkTo to="/shield/rules/$id" params={{ id: String(id) }}>
                {nameOf(id)}
              </LinkTo>{' '}
              {matches ? t('shield.decides') : t('shield.unmet', { parts: unmetOf(unmet) })}
            </li>
          ))}
        </ol>
      )}
      {live !== null && <Seen live={live} nameOf={nameOf} />}
    </Section>
  );
}

type Live = NonNullable<Explained['live']>;

/** What became of packets that came by meanwhile. */
function Seen({ live: { packets, seconds }, nameOf }: { live: Live; nameOf: (rule: number) => string }) {
  const { t } = useText();
  const say = useSayRule();
  const byWhom = ({ by, rule_id: rule }: Live['packets'][number]) =>
    by === 'rule' && rule !== null
      ? t('shield.byRule', { rule: nameOf(rule) })
      : t(`shield.by_${by === 'rule' ? 'unmatched' : by}`);
  if (packets.length === 0) return <Text size="sm">{t('shield.noneCameBy', { count: seconds })}</Text>;
  return (
    <div>
      <Text size="sm" fw={600}>
        {t('shield.cameBy', { count: packets.length })}
      </Text>
      <ol className="way">
        {packets.map((packet, nth) => (
          // biome-ignore lint/suspicious/noArrayIndexKey: they are told once, in the order in which they came
          <li key={nth}>
            {say.packet(packet)}: <b data-action={packet.action}>{say.action(packet.action)}</b>{' '}
            {byWhom(packet)}
          </li>
        ))}
      </ol>
    </div>
  );
}
