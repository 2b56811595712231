import { useState } from 'react';
import { createStaffKey } from '../../../../client/generated/fields/createStaffKey.ts';
import { rotateStaffKey } from '../../../../client/generated/fields/rotateStaffKey.ts';
import type { Schema } from '../../../../client/index.ts';
import { client } from '../../data/client.ts';
import { staffKeys } from '../../data/queries/staff/index.ts';
import { useText } from '../../text/index.ts';
import { Act, Alert, Copy, Group, ListPage, Named, Text, Tick, useColumns } from '../../ui/index.ts';

export function StaffKeys() {
  const { t } = useText();
  const [token, setToken] = useState<string | null>(null);
  const columns = useColumns<Schema<'StaffKey'>>(
    ['name', 'user', 'key', 'areas', 'expires_at', 'last_used_at', 'actions'],
    {
      areas: ({ billing, shield, vps }) =>
        Object.entries({ billing, shield, vps })
          .filter(([, isFor]) => isFor)
          .map(([area]) => t(`running.area_${area as 'billing' | 'shield' | 'vps'}`))
          .join(', ') || '–',
      actions: ({ id, name }) => (
        <Group gap="xs">
          <Act
            operation="rotateStaffKey"
            fields={rotateStaffKey}
            label={t('running.rotate')}
            text={t('running.rotateText')}
            onAct={async ({ overlap_hours: hours }) => {
              const body = hours === undefined ? {} : { overlap_hours: Number(hours) };
              const made = await client.post('/staff/keys/{id}/rotate', { path: { id }, body });
              setToken(made.token);
            }}
          >
            <Named name="overlap_hours" isOptional />
          </Act>
          <Act
            operation="revokeStaffKey"
            label={t('running.revoke')}
            text={t('running.revokeText', { name })}
            isDangerous
            onAct={() => client.delete('/staff/keys/{id}', { path: { id } })}
          />
        </Group>
      ),
    },
  );
  return (
    <ListPage
      title={t('staff.keys')}
      empty={t('empty.keys')}
      list={staffKeys}
      columns={columns}
      aside={
        <Act
          operation="createStaffKey"
          fields={createStaffKey}
          label={t('running.newKey')}
          size="sm"
          isFirst
          onAct={async ({ name = '', billing, shield, vps, expires_at: until }) => {
            const made = await client.post('/staff/keys', {
              body: {
                ...{
                  name,
                  billing: billing !== undefined,
                  shield: shield !== undefined,
                  vps: vps !== undefined,
                },
                expires_at: until === undefined ? null : `${until}T00:00:00Z`,
              },
            });
            setToken(made.token);
          }}
        >
          <Named name="name" />
          <Tick name="billing" label={t('running.area_billing')} defaultChecked />
          <Tick name="shield" label={t('running.area_shield')} defaultChecked />
          <Tick name="vps" label={t('running.area_vps')} defaultChecked />
          <Named name="expires_at" type="date" isOptional />
        </Act>
      }
    >
      {token !== null && (
        <Alert color="green" role="status">
          <Text mb="xs">{t('running.keyOnce')}</Text>
          <Copy text={token} />
        </Alert>
      )}
    </ListPage>
  );
}
