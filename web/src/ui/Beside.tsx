import { Paper, Stack } from '@mantine/core';
import type { ReactNode } from 'react';

/** What is chosen, and beside it, always in view, what that comes to. */
export function Beside({
  label,
  always,
  children,
}: {
  label: string;
  always: ReactNode;
  children: ReactNode;
}) {
  return (
    <div className="beside">
      <div>{children}</div>
      <Paper component="section" aria-label={label} withBorder p="md" shadow="sm">
        <Stack gap="xs">{always}</Stack>
      </Paper>
    </div>
  );
}
