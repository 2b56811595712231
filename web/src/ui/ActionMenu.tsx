import { Button, Menu, Text } from '@mantine/core';
import type { ErrorCode } from '../../../client/index.ts';
import { Reason } from './Refusal.tsx';

interface ActionMenuProps {
  label: string;
  actions: readonly {
    name: string;
    action: { allowed: boolean; reason: string | null; code?: ErrorCode | null };
    onAct: () => void;
  }[];
}

/** Actions that have no room for a button each; one that is not allowed says why below its name. */
export function ActionMenu({ label, actions }: ActionMenuProps) {
  return (
    <Menu position="bottom-end" width={260}>
      <Menu.Target>
        <Button variant="default" miw="max-content" rightSection={<span aria-hidden>▾</span>}>
          {label}
        </Button>
      </Menu.Target>
      <Menu.Dropdown>
        {actions.map(({ name, action, onAct }) => (
          <Menu.Item
            key={name}
            aria-disabled={!action.allowed}
            closeMenuOnClick={action.allowed}
            onClick={() => {
              if (action.allowed) onAct();
            }}
          >
            <Text size="sm" c={action.allowed ? undefined : 'dimmed'}>
              {name}
            </Text>
            {!action.allowed && (
              <Text size="xs" c="dimmed">
                <Reason {...action} />
              </Text>
            )}
          </Menu.Item>
        ))}
      </Menu.Dropdown>
    </Menu>
  );
}
