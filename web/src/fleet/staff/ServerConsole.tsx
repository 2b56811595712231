import { useRef, useState } from 'react';
import { openServerConsole } from '../../../../client/generated/fields/openServerConsole.ts';
import type { Schema } from '../../../../client/index.ts';
import { client } from '../../data/client.ts';
import { useText } from '../../text/index.ts';
import { Act, Group, Named, Section } from '../../ui/index.ts';
import { Line } from '../../vps/console/Line.tsx';

/** The serial line of a server, once staff has said why it looks. */
export function ServerConsole({ of: { id, state, actions } }: { of: Schema<'Server'> }) {
  const { t } = useText();
  const [opened, setOpened] = useState<{ reason: string; nth: number } | null>(null);
  // What the form has brought is used first; who connects again asks for another.
  const given = useRef<{ wss_url: string } | null>(null);
  const ask = (reason: string) =>
    client.post('/staff/servers/{id}/console', { path: { id }, body: { reason } });
  return (
    <Section id="console" title={t('tab.console')}>
      <Group>
        <Act
          operation="openServerConsole"
          fields={openServerConsole}
          label={t('racks.openConsole')}
          text={t(state === 'rented' ? 'racks.openRentedConsole' : 'racks.openConsoleText')}
          action={actions.console}
          onAct={async ({ reason = '' }) => {
            given.current = await ask(reason);
            setOpened((before) => ({ reason, nth: (before?.nth ?? 0) + 1 }));
          }}
        >
          <Named name="reason" />
        </Act>
      </Group>
      {opened !== null && (
        <Line
          key={opened.nth}
          type="serial"
          isServer
          ask={async () => {
            const first = given.current;
            given.current = null;
            return first ?? ask(opened.reason);
          }}
        />
      )}
    </Section>
  );
}
