import { useMutation, useQueryClient } from '@tanstack/react-query';
import { useState } from 'react';
import type { Schema } from '../../../client/index.ts';
import { client } from '../data/client.ts';
import { useText } from '../text/index.ts';
import { Bullets, Button, Confirm, Group, LinkTo, Section, useSentence } from '../ui/index.ts';

type Service = Schema<'Service'>;

const commands = ['start', 'stop', 'renew'] as const;
type Command = (typeof commands)[number];

interface Result {
  service: Service;
  error: unknown;
  /** Of a renewal. */
  invoice: number | null;
}

interface SeveralProps {
  chosen: readonly Service[];
  onDone: () => void;
}

/** Does one thing with several services, and says of each what became of it. */
export function Several({ chosen, onDone }: SeveralProps) {
  const { t } = useText();
  const queries = useQueryClient();
  const sentence = useSentence();
  const [asked, setAsked] = useState<Command | null>(null);
  const act = useMutation({
    mutationFn: async (command: Command) => {
      const results: Result[] = [];
      // One after another: a refusal of one is no matter of the others.
      for (const service of chosen) {
        const done = await doOne(command, service).then(
          (invoice) => ({ error: null, invoice }),
          (error: unknown) => ({ error, invoice: null }),
        );
        results.push({ service, ...done });
      }
      return results;
    },
    onSettled: () => {
      for (const kind of ['services', 'vps', 'invoices'])
        void queries.invalidateQueries({ queryKey: [kind] });
      onDone();
    },
  });
  const nameOf = ({ id, hostname, domain }: Service) => hostname ?? domain ?? t('services.untitled', { id });
  if (chosen.length === 0 && act.data === undefined) return null;
  return (
    <Section title={t('several.title', { count: chosen.length })}>
      {chosen.length > 0 && (
        <Group gap="xs">
          {commands.map((command) => (
            <Button
              key={command}
              size="sm"
              variant="default"
              loading={act.isPending && act.variables === command}
              onClick={() => (command === 'start' ? act.mutate(command) : setAsked(command))}
            >
              {t(`several.${command}`)}
            </Button>
          ))}
        </Group>
      )}
      {act.data !== undefined && (
        <div role="status">
          <Bullets size="sm">
            {act.data.map(({ service, error, invoice }) => (
              <Bullets.Item key={service.id}>
                {nameOf(service)}: {error === null ? t('several.begun') : sentence(error)}{' '}
                {invoice !== null && (
                  <LinkTo to="/invoices/$id" params={{ id: String(invoice) }}>
                    {t('several.invoice')}
                  </LinkTo>
                )}
              </Bullets.Item>
            ))}
          </Bullets>
        </div>
      )}
      <Confirm
        isOpen={asked !== null}
        title={t(asked === 'renew' ? 'several.renewAsk' : 'several.stopAsk', { count: chosen.length })}
        text={t(asked === 'renew' ? 'several.renewText' : 'several.stopText', {
          names: chosen.map(nameOf).join(', '),
        })}
        button={t(asked === 'renew' ? 'several.renew' : 'several.stop')}
        onClose={() => setAsked(null)}
        onConfirm={() => {
          if (asked !== null) act.mutate(asked);
          setAsked(null);
        }}
      />
    </Section>
  );
}

/** The invoice that came of it, if one did. */
async function doOne(command: Command, { id, billingCycle: cycle }: Service): Promise<number | null> {
  const path = { id };
  if (command === 'renew')
    return (await client.post('/dashboard/services/{id}/renew', { path, body: { cycle } })).invoice_id;
  await client.post(`/dashboard/service/{id}/vps/${command}`, { path, body: {} });
  return null;
}
