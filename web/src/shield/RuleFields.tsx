import { useQuery } from '@tanstack/react-query';
import { useState } from 'react';
import { createShieldRule } from '../../../client/generated/fields/createShieldRule.ts';
import { explainPacket } from '../../../client/generated/fields/explainPacket.ts';
import type { Schema } from '../../../client/index.ts';
import { choicesOf } from '../data/fields.ts';
import { rateLimiters } from '../data/queries/index.ts';
import { useText } from '../text/index.ts';
import { Choice, Field, Fieldset, Rows, SimpleGrid } from '../ui/index.ts';
import type { Words } from './draft.ts';
import { RateFields } from './RateFields.tsx';
import { hows, lasts, localMoment, ownRate } from './ruleForm.ts';
import { hasPorts, numbers, protocolNames } from './say.ts';

interface RuleFieldsProps {
  /** What it says now; null: it is a new one. */
  rule: Words | null;
  /** Where it stands, where that is said by a number. */
  order: number | null;
}

const usually = { action: 'deny', protocol: 6 } as const;

/** All that a rule can say, the most usual first. */
export function RuleFields({ rule, order }: RuleFieldsProps) {
  const { t } = useText();
  const [protocol, setProtocol] = useState<number>(rule?.protocol ?? usually.protocol);
  const [action, setAction] = useState<string>(rule?.action ?? usually.action);
  return (
    <>
      <SimpleGrid cols={{ base: 1, xs: 2 }}>
        <Choice
          name="action"
          label={t('shield.packetsAre')}
          defaultValue={action}
          choices={choicesOf(createShieldRule.action, (value) => t(`shield.do_${value}`))}
          onChoose={setAction}
        />
        <Choice
          name="protocol"
          label={t('shield.protocol')}
          help=""
          defaultValue={String(protocol)}
          choices={[6, 17, 1, 47, 50, 4].map((value) => ({
            value: String(value),
            label: protocolNames[value as keyof typeof protocolNames],
          }))}
          onChoose={(value) => setProtocol(Number(value))}
        />
      </SimpleGrid>
      {hasPorts(protocol) && (
        <PortFields
          name="destination_port"
          legend={t('shield.toPort')}
          port={rule?.destination_port ?? null}
        />
      )}
      <Field
        name="source"
        label={t('shield.source')}
        help={t('shield.sourceHelp')}
        defaultValue={rule?.source ?? ''}
      />
      <Field
        name="note"
        label={t('shield.note')}
        help={t('shield.noteHelp')}
        defaultValue={rule?.note ?? ''}
      />
      {order !== null && (
        <Field
          name="order"
          label={t('shield.order')}
          help={t('shield.orderHelp')}
          defaultValue={String(order)}
        />
      )}
      {action === 'permit' && <LimitFields rule={rule} />}
      <LastsFields until={rule?.expires_at ?? null} />
      <details className="more-fields" open={hasMore(rule)}>
        <summary>{t('shield.moreConditions')}</summary>
        <div>
          {hasPorts(protocol) && (
            <PortFields name="source_port" legend={t('shield.fromPort')} port={rule?.source_port ?? null} />
          )}
          <Rows
            legend={t('shield.conditions')}
            name="matches"
            items={rule?.matches ?? []}
            most={11}
            add={t('shield.addCondition')}
          >
            {(match, at) => <MatchFields match={match} at={at} isTcp={protocol === 6} />}
          </Rows>
        </div>
      </details>
    </>
  );
}

function hasMore(rule: Words | null): boolean {
  return rule !== null && (rule.source_port !== null || rule.matches.length > 0);
}

interface PortFieldsProps {
  name: 'source_port' | 'destination_port';
  legend: string;
  port: Schema<'ShieldPort'> | null;
}

function PortFields({ name, legend, port }: PortFieldsProps) {
  const { t } = useText();
  const [how, setHow] = useState<string>(port?.match_type ?? (name === 'destination_port' ? 'eq' : 'any'));
  return (
    <Fieldset legend={legend} name={name}>
      <SimpleGrid cols={{ base: 1, xs: 2 }}>
        <Choice
          name={`${name}.match_type`}
          label={t('shield.how')}
          defaultValue={how}
          choices={(['any', ...hows] as const).map((value) => ({
            value,
            label: t(`shield.portHow_${value}`),
          }))}
          onChoose={setHow}
        />
        {how === 'range' ? (
          <SimpleGrid cols={2}>
            <Field
              name={`${name}.range`}
              label={t('shield.fromNumber')}
              inputMode="numeric"
              defaultValue={String(port?.range?.start ?? '')}
            />
            <Field
              name={`${name}.to`}
              label={t('shield.toNumber')}
              inputMode="numeric"
              defaultValue={String(port?.range?.end ?? '')}
            />
          </SimpleGrid>
        ) : (
          how !== 'any' && (
            <Field
              name={`${name}.match_value`}
              label={t(how === 'gt' || how === 'lt' ? 'shield.port' : 'shield.ports')}
              inputMode="text"
              defaultValue={port?.match_value?.join(', ') ?? ''}
            />
          )
        )}
      </SimpleGrid>
    </Fieldset>
  );
}

type Match = Schema<'ShieldMatch'>;

function MatchFields({ match, at, isTcp }: { match: Match | null; at: string; isTcp: boolean }) {
  const { t } = useText();
  const others = ['fragments', ...Object.keys(numbers)] as const;
  const flags = isTcp || match !== null ? explainPacket['flags[]'].choices : [];
  const choices = [...flags, ...others] as readonly Match['match'][];
  const [what, setWhat] = useState<string>(match?.match ?? choices[0] ?? 'ttl');
  const isNumber = what in numbers;
  const was = match === null || match.match !== what ? null : match;
  const [how, setHow] = useState<string>(howOf(match));
  const named = isNumber ? hows : (['set', 'unset'] as const);
  const chosen = named.some((each) => each === how) ? how : named[0];
  return (
    <>
      <Choice
        name={`${at}.match`}
        label={t('shield.what')}
        defaultValue={what}
        choices={choices.map((value) => ({ value, label: t(`shield.what_${value}`) }))}
        onChoose={(value) => {
          setWhat(value);
          setHow(value in numbers ? 'eq' : 'set');
        }}
      />
      <Choice
        key={isNumber ? 'number' : 'flag'}
        name={`${at}.match_type`}
        label={t('shield.how')}
        defaultValue={chosen}
        choices={named.map((value) => ({ value, label: t(`shield.how_${value}`) }))}
        onChoose={setHow}
      />
      {isNumber && chosen !== 'range' && (
        <Field
          name={`${at}.match_value`}
          label={t('shield.value')}
          inputMode="numeric"
          defaultValue={was?.match_value === undefined ? '' : String(was.match_value)}
        />
      )}
      {isNumber && chosen === 'range' && (
        <>
          <Field
            name={`${at}.range`}
            label={t('shield.fromNumber')}
            inputMode="numeric"
            defaultValue={String(was?.range?.start ?? '')}
          />
          <Field
            name={`${at}.to`}
            label={t('shield.toNumber')}
            inputMode="numeric"
            defaultValue={String(was?.range?.end ?? '')}
          />
        </>
      )}
    </>
  );
}

function howOf(match: Match | null): string {
  if (match === null) return 'set';
  if (match.match in numbers) return match.match_type;
  return match.match_value === true ? 'set' : 'unset';
}

/** Whether what it lets in is held to a rate: one that has a name, or one of its own. */
function LimitFields({ rule }: { rule: Words | null }) {
  const { t } = useText();
  const { data: limiters } = useQuery(rateLimiters);
  const rate = rule?.rate ?? null;
  const now = rule?.rate_limiter_id ?? 0;
  const [chosen, setChosen] = useState(rate === null ? String(now) : ownRate);
  // What is chosen is there before its name is.
  const known = limiters ?? (now === 0 ? [] : [{ id: now, name: '…' }]);
  return (
    <>
      <Choice
        key={limiters === undefined ? 'waiting' : 'there'}
        name="limit"
        label={t('shield.limiter')}
        help={t('shield.limiterHelp')}
        defaultValue={chosen}
        choices={[
          { value: '0', label: t('shield.noLimiter') },
          { value: ownRate, label: t('shield.ownRate') },
          ...known.map(({ id, name }) => ({ value: String(id), label: name })),
        ]}
        onChoose={setChosen}
      />
      {chosen === ownRate && (
        <Fieldset legend={t('shield.ownRate')} name="rate">
          <RateFields rate={rate} at="rate." />
        </Fieldset>
      )}
    </>
  );
}

function LastsFields({ until }: { until: string | null }) {
  const { t } = useText();
  const [lasting, setLasting] = useState<string>(until === null ? 'ever' : 'until');
  return (
    <SimpleGrid cols={{ base: 1, xs: 2 }}>
      <Choice
        name="lasts"
        label={t('shield.lasts')}
        defaultValue={lasting}
        choices={lasts.map((value) => ({ value, label: t(`shield.lasts_${value}`) }))}
        onChoose={setLasting}
      />
      {lasting === 'until' && (
        <Field
          name="expires_at"
          type="datetime-local"
          required
          label={t('shield.until')}
          defaultValue={until === null ? '' : localMoment(until)}
        />
      )}
    </SimpleGrid>
  );
}
