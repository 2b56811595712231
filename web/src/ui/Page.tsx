import { Group, Stack, Title } from '@mantine/core';
import { type ReactNode, useEffect } from 'react';
import { useBrand } from '../data/brand.ts';
import { Breaks } from './Breaks.tsx';

interface PageProps {
  title: string;
  /** Beside the title: a state, or what one does here. */
  aside?: ReactNode;
  children: ReactNode;
}

/** A page: its one heading, which is the name of the tab as well. */
export function Page({ title, aside, children }: PageProps) {
  const { name } = useBrand();
  useEffect(() => {
    document.title = `${title} · ${name}`;
  }, [title, name]);
  return (
    <Stack gap="lg">
      <Group justify="space-between" gap="sm">
        <Title order={1} size="h2" style={{ overflowWrap: 'anywhere' }}>
          <Breaks name={title} />
        </Title>
        {aside !== undefined && <Group gap="xs">{aside}</Group>}
      </Group>
      {children}
    </Stack>
  );
}
