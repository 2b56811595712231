import { useParams } from '@tanstack/react-router';
import { useState } from 'react';
import { explainPacket } from '../../../client/generated/fields/explainPacket.ts';
import type { BodyOf, DataOf, OperationAt } from '../../../client/index.ts';
import { client } from '../data/client.ts';
import { useText } from '../text/index.ts';
import {
  Choice,
  Field,
  Fieldset,
  Form,
  Group,
  Section,
  SimpleGrid,
  Stack,
  Text,
  Tick,
  type Values,
} from '../ui/index.ts';
import './shield.css';
import { Decided } from './Decided.tsx';
import { hasPorts, protocolNames } from './say.ts';

type Asked = BodyOf<OperationAt<'post', '/shield/v2/rules/explain'>>;
/** As many as a packet can have. */
const flags = explainPacket['flags[]'].choices;

type Explained = DataOf<OperationAt<'post', '/shield/v2/rules/explain'>>;

/** Which rule decides about a packet, and why those before it do not. */
export function Which() {
  const { t } = useText();
  const { ip } = useParams({ from: '/in/shield/addresses/$ip' });
  const [protocol, setProtocol] = useState(6);
  const [isWaiting, setWaiting] = useState(false);
  const [explained, setExplained] = useState<Explained | null>(null);
  return (
    <Stack gap="lg">
      <Section title={t('shield.tab_explain')}>
        <Text size="sm" c="dimmed">
          {t('shield.explainText')}
        </Text>
        <Form
          fields={explainPacket}
          submit={t('shield.explain')}
          onSubmit={async (values) => {
            const body = packetIn(values, ip);
            setWaiting(body.live === true);
            try {
              setExplained(await client.post('/shield/v2/rules/explain', { body }));
            } finally {
              setWaiting(false);
            }
          }}
          beside={
            <Text role="status" size="sm">
              {isWaiting && t('shield.waitingFor')}
            </Text>
          }
        >
          <SimpleGrid cols={{ base: 1, xs: 2 }}>
            <Field
              name="source"
              label={t('shield.source')}
              help={t('shield.explainSource', { example: ip.includes(':') ? '2001:db8::7' : '198.51.100.7' })}
            />
            <Choice
              name="protocol"
              label={t('shield.protocol')}
              defaultValue="6"
              choices={[6, 17, 1, 47, 50, 4].map((value) => ({
                value: String(value),
                label: protocolNames[value as keyof typeof protocolNames],
              }))}
              onChoose={(value) => setProtocol(Number(value))}
            />
            {hasPorts(protocol) && (
              <>
                <Field name="destination_port" label={t('shield.toPort')} defaultValue="22" />
                <Field name="source_port" label={t('shield.fromPort')} />
              </>
            )}
          </SimpleGrid>
          {protocol === 6 && (
            <Fieldset legend={t('shield.flags')} name="flags">
              <Text size="sm" c="dimmed">
                {t('shield.flagsHelp')}
              </Text>
              <Group gap="md">
                {flags.map((flag) => (
                  <Tick key={flag} name={`flag.${flag}`} label={flag.toUpperCase()} />
                ))}
              </Group>
            </Fieldset>
          )}
          <details className="more-fields">
            <summary>{t('shield.moreConditions')}</summary>
            <div>
              <SimpleGrid cols={{ base: 1, xs: 2 }}>
                <Field name="ttl" label="TTL" />
                <Field name="length" label={t('shield.length')} />
                <Field name="dscp" label="DSCP" />
                <Field name="ecn" label="ECN" />
              </SimpleGrid>
              <Tick name="fragment" label={t('shield.isPart')} />
            </div>
          </details>
          <Tick name="live" label={t('shield.live')} help={t('shield.liveHelp')} />
        </Form>
      </Section>
      {explained !== null && <Decided explained={explained} ip={ip} />}
    </Stack>
  );
}

/** What was typed; of what is left empty the API takes what is usual, and packets that come by may have any. */
function packetIn(values: Values, destination: string): Asked {
  const given = (...names: ('source_port' | 'destination_port' | 'ttl' | 'length' | 'dscp' | 'ecn')[]) =>
    Object.fromEntries(
      names.flatMap((name) => (values[name] === undefined ? [] : [[name, Number(values[name])]])),
    );
  const protocol = Number(values.protocol);
  const set = flags.filter((flag) => values[`flag.${flag}`] === 'on');
  return {
    ...{ source: values.source ?? '', destination, protocol },
    ...(hasPorts(protocol) && given('destination_port', 'source_port')),
    ...(protocol === 6 && set.length > 0 && { flags: set }),
    ...given('ttl', 'length', 'dscp', 'ecn'),
    ...(values.fragment === 'on' && { fragment: true }),
    ...(values.live === 'on' && { live: true }),
  };
}
