import { useMutation, useQuery, useQueryClient } from '@tanstack/react-query';
import { useNavigate, useParams } from '@tanstack/react-router';
import { useState } from 'react';
import type { Schema } from '../../../client/index.ts';
import { client } from '../data/client.ts';
import { rateLimiters, shieldRule } from '../data/queries/index.ts';
import { bytes, moment } from '../text/formats.ts';
import { useText } from '../text/index.ts';
import {
  ActionButton,
  Confirm,
  Dialog,
  Fact,
  Group,
  LinkTo,
  Page,
  Refusal,
  Section,
  SimpleGrid,
  Skeleton,
  State,
  Text,
} from '../ui/index.ts';
import './shield.css';
import { ChangeRule } from './RuleForm.tsx';
import { stateOf } from './rows.ts';
import { ShieldTabs } from './ShieldTabs.tsx';
import { plainOf, useSayRule } from './say.ts';
import { useMayManage } from './useMayManage.ts';
import { useRates, useSayRate } from './useRates.ts';
import { type Warning, Warnings } from './Warnings.tsx';

/** One rule, with all that is known of it. */
export function Rule() {
  const { t } = useText();
  const { id } = useParams({ from: '/in/shield/rules/$id' });
  const read = useQuery(shieldRule(Number(id)));
  const { data: rule } = read;
  return (
    <Page title={rule?.note ?? t('shield.rule')} aside={rule !== undefined && <State of={stateOf(rule)} />}>
      <ShieldTabs />
      {rule !== undefined ? (
        <Shown rule={rule} />
      ) : read.error ? (
        <Refusal title={t('shield.ruleFailed')} error={read.error} onRetry={() => void read.refetch()} />
      ) : (
        <Skeleton height={320} />
      )}
    </Page>
  );
}

function Shown({ rule }: { rule: Schema<'ShieldRule'> }) {
  const { t, language } = useText();
  const say = useSayRule();
  const navigate = useNavigate();
  const queries = useQueryClient();
  const mayManage = useMayManage();
  const { packets } = useRates();
  const sayRate = useSayRate();
  const [asked, setAsked] = useState<'change' | 'remove' | null>(null);
  const [warnings, setWarnings] = useState<readonly Warning[]>([]);
  const { data: limiters } = useQuery({ ...rateLimiters, enabled: rule.rate_limiter_id !== 0 });
  const path = { id: rule.id };
  // Of a network its first address, which has the rule as all others have.
  const ip = rule.destination.split('/', 1)[0] ?? rule.destination;
  const remove = useMutation({
    mutationFn: async () => {
      await client.delete('/shield/v2/rules/{id}', { path });
      await navigate({ to: '/shield/addresses/$ip', params: { ip } });
      await queries.invalidateQueries({ queryKey: ['shield'] });
    },
  });
  return (
    <>
      <Warnings warnings={warnings} rules={[rule]} onClose={() => setWarnings([])} />
      <Section
        title={t('shield.rule')}
        aside={
          <>
            <ActionButton size="sm" variant="default" action={mayManage} onAct={() => setAsked('change')}>
              {t('app.change')}
            </ActionButton>
            <ActionButton
              size="sm"
              variant="default"
              action={mayManage}
              loading={remove.isPending}
              onAct={() => setAsked('remove')}
            >
              {t('app.remove')}
            </ActionButton>
          </>
        }
      >
        <Text style={{ overflowWrap: 'anywhere' }}>
          <b data-action={rule.action}>{say.action(rule.action)}</b> {say.packets(rule)}
        </Text>
        <Refusal error={remove.error} />
        <SimpleGrid cols={{ base: 1, xs: 2, md: 4 }}>
          <Fact name={t('shield.forAddress')}>
            <LinkTo to="/shield/addresses/$ip" params={{ ip }}>
              {plainOf(rule.destination)}
            </LinkTo>
          </Fact>
          <Fact name={t('shield.order')}>{rule.order}</Fact>
          <Fact name={t('shield.decidedAbout')}>
            {packets(rule.counters.packets)} · {bytes(rule.counters.bytes, language)}
          </Fact>
          {(rule.rate_limiter_id !== 0 || rule.rate !== null) && (
            <Fact name={t('shield.limiter')}>
              {rule.rate !== null
                ? `${sayRate(rule.rate)} ${t(`shield.per_${rule.rate.per}`)}`
                : (limiters?.find((each) => each.id === rule.rate_limiter_id)?.name ?? '…')}
              {' · '}
              {t('shield.overRate', { packets: packets(rule.counters.dropped_packets) })}
            </Fact>
          )}
          <Fact name={t('shield.inForceSince')}>
            {rule.enforced.since === null ? '–' : moment(String(rule.enforced.since), language)}
          </Fact>
          <Fact name={t('shield.until')}>
            {rule.expires_at === null ? t('shield.lasts_ever') : moment(String(rule.expires_at), language)}
          </Fact>
          <Fact name={t('billing.created')}>{moment(String(rule.created_at), language)}</Fact>
        </SimpleGrid>
        {rule.enforced.error !== null && (
          <Text size="sm" lang="en">
            {rule.enforced.error}
          </Text>
        )}
        <Group>
          <LinkTo to="/shield/addresses/$ip" params={{ ip }}>
            {t('shield.allRulesOf', { address: ip })}
          </LinkTo>
        </Group>
      </Section>
      <Dialog title={t('shield.changeRule')} isOpen={asked === 'change'} onClose={() => setAsked(null)}>
        <ChangeRule
          id={rule.id}
          onDone={async (next) => {
            setWarnings(next);
            setAsked(null);
            await queries.invalidateQueries({ queryKey: ['shield'] });
          }}
        />
      </Dialog>
      <Confirm
        isOpen={asked === 'remove'}
        title={t('shield.removeAsk')}
        text={t('shield.removeText', { rule: say.whole(rule) })}
        button={t('app.remove')}
        onClose={() => setAsked(null)}
        onConfirm={() => {
          setAsked(null);
          remove.mutate();
        }}
      />
    </>
  );
}
