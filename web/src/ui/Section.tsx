import { Group, Paper, Stack, Title } from '@mantine/core';
import type { ReactNode } from 'react';

interface SectionProps {
  /** For what leads to it. */
  id?: string;
  title: string;
  /** Beside the title: what one does here. */
  aside?: ReactNode;
  children: ReactNode;
}

/** A part of a page under a heading of its own. */
export function Section({ title, aside, children, id }: SectionProps) {
  return (
    <Paper component="section" withBorder p="md" id={id}>
      <Stack gap="sm">
        <Group justify="space-between" gap="sm">
          <Title order={2} size="h4">
            {title}
          </Title>
          {aside !== undefined && <Group gap="xs">{aside}</Group>}
        </Group>
        {children}
      </Stack>
    </Paper>
  );
}
