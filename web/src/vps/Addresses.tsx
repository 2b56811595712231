import { useQuery, useQueryClient } from '@tanstack/react-query';
import { useParams } from '@tanstack/react-router';
import { useState } from 'react';
import { updateDedicatedIpAddress } from '../../../client/generated/fields/updateDedicatedIpAddress.ts';
import { updateIpAddress } from '../../../client/generated/fields/updateIpAddress.ts';
import { client } from '../data/client.ts';
import { drawnOf, partOf } from '../data/drawn.ts';
import { machineAddresses, session } from '../data/queries/index.ts';
import { useText } from '../text/index.ts';
import { Badge, Button, Dialog, Field, Form, Group, LinkTo, List, Text } from '../ui/index.ts';
import { useKind } from './useKind.ts';

/** The addresses of a machine, and by which names the world finds them. */
export function Addresses() {
  const { t } = useText();
  const id = Number(useParams({ from: '/in/services/$id' }).id);
  const queries = useQueryClient();
  const kind = useKind(id);
  const read = useQuery(machineAddresses(kind, id));
  const { data: signedIn } = useQuery(session);
  const mayLook = signedIn?.organization?.permissions.includes('shield.read') === true;
  const [chosen, setChosen] = useState<string | null>(null);
  const named = read.data?.find(({ address }) => address === chosen) ?? null;
  return (
    <>
      <List
        label={t('machine.addresses')}
        items={read.data}
        keyOf={({ address }) => address}
        error={read.error}
        onRetry={() => void read.refetch()}
        empty={<Text>{t('addresses.none')}</Text>}
        columns={[
          {
            name: t('services.address'),
            cell: ({ address, prefix, primary }) => (
              <Group gap="xs">
                <Text fw={600} style={{ overflowWrap: 'anywhere' }}>
                  {address}/{prefix}
                </Text>
                {primary && (
                  <Badge variant="light" color="brand" tt="none" radius="sm">
                    {t('addresses.primary')}
                  </Badge>
                )}
              </Group>
            ),
          },
          ...(mayLook
            ? [
                {
                  name: t('nav.shield'),
                  cell: ({ address }: { address: string }) => (
                    <LinkTo to="/shield/addresses/$ip" params={{ ip: address }}>
                      {t('shield.rules')}
                    </LinkTo>
                  ),
                },
              ]
            : []),
          { name: t('addresses.gateway'), cell: ({ gateway }) => gateway },
          { name: t('addresses.mac'), cell: ({ mac }) => mac ?? '–' },
          {
            name: t('addresses.name'),
            cell: (each) => (
              <Group gap="xs" justify="end" style={{ minWidth: 0 }}>
                <Text style={{ overflowWrap: 'anywhere' }}>{each.dns_name ?? '–'}</Text>
                <Button
                  size="xs"
                  variant="default"
                  aria-label={t('addresses.rename', { address: each.address })}
                  onClick={() => setChosen(each.address)}
                >
                  {t('app.change')}
                </Button>
              </Group>
            ),
          },
        ]}
      />
      <Dialog
        title={t('addresses.rename', { address: named?.address ?? '' })}
        isOpen={named !== null}
        onClose={() => setChosen(null)}
      >
        <Form
          fields={kind === 'vps' ? updateIpAddress : updateDedicatedIpAddress}
          submit={t('app.save')}
          of={partOf(drawnOf(`/dashboard/service/{id}/${kind}/ips`, { path: { id } }), ({ ips }) =>
            ips.find(({ address }) => address === chosen),
          )}
          onSubmit={async ({ dns_name = null }, _files, ifMatch) => {
            const address = named?.address ?? '';
            await client.patch(`/dashboard/service/{id}/${kind}/ips`, {
              path: { id },
              ifMatch,
              body: { address, dns_name },
            });
            await queries.invalidateQueries({ queryKey: [kind, id] });
            setChosen(null);
          }}
        >
          {(now) => (
            <Field
              name="dns_name"
              label={t('addresses.name')}
              help={t('addresses.nameHelp')}
              required={false}
              defaultValue={now?.dns_name ?? ''}
              autoFocus
            />
          )}
        </Form>
      </Dialog>
    </>
  );
}
