import { useState } from 'react';
import { rescueServer } from '../../../../client/generated/fields/rescueServer.ts';
import type { Schema } from '../../../../client/index.ts';
import { client } from '../../data/client.ts';
import { useText } from '../../text/index.ts';
import { Act, Alert, Copy, Group, Named, Section, Text } from '../../ui/index.ts';

/** The rescue system of a server that is nobody's, for staff; of one that a customer rents the button says why it is not. */
export function ServerRescue({ of: { id, in_rescue: isIn, actions } }: { of: Schema<'Server'> }) {
  const { t } = useText();
  const [password, setPassword] = useState<string | null>(null);
  const path = { id };
  return (
    <Section title={t('racks.rescue')}>
      <Text size="sm">{t(isIn ? 'racks.inRescue' : 'racks.notInRescue')}</Text>
      {password !== null && (
        <Alert color="orange" title={t('racks.rescuePassword')}>
          <Copy text={password} />
        </Alert>
      )}
      <Group gap="xs">
        {isIn ? (
          <Act
            operation="rescueServer"
            label={t('racks.rescueOff')}
            text={t('racks.rescueOffText')}
            action={actions.rescue_off}
            onAct={async () => {
              await client.post('/staff/servers/{id}/rescue', { path, body: { enabled: false } });
              setPassword(null);
            }}
          />
        ) : (
          <Act
            operation="rescueServer"
            fields={rescueServer}
            label={t('racks.rescueOn')}
            text={t('racks.rescueText')}
            action={actions.rescue}
            onAct={async ({ reason }) => {
              const body = { enabled: true, ...(reason && { reason }) };
              setPassword((await client.post('/staff/servers/{id}/rescue', { path, body })).password);
            }}
          >
            <Named name="reason" isOptional />
          </Act>
        )}
      </Group>
    </Section>
  );
}
