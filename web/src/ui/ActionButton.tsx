import { Button, type ButtonProps, Tooltip } from '@mantine/core';
import type { ReactNode } from 'react';
import type { ErrorCode } from '../../../client/index.ts';
import { Reason } from './Refusal.tsx';

interface ActionButtonProps extends ButtonProps {
  /** What the API says of it; a button that is not allowed says why, by mouse, keyboard and touch. */
  action: { allowed: boolean; reason: string | null; code?: ErrorCode | null };
  onAct: () => void;
  children: ReactNode;
}

export function ActionButton({ action, onAct, children, ...props }: ActionButtonProps) {
  if (action.allowed)
    return (
      <Button {...props} onClick={onAct}>
        {children}
      </Button>
    );
  // `data-disabled` and not `disabled`: it keeps the focus, so that the reason can be reached.
  return (
    <Tooltip
      label={<Reason {...action} />}
      multiline
      maw={320}
      events={{ hover: true, focus: true, touch: true }}
    >
      <Button {...props} data-disabled aria-disabled onClick={(event) => event.preventDefault()}>
        {children}
      </Button>
    </Tooltip>
  );
}
