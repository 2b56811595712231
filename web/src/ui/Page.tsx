import { Group, Stack, Title } from '@mantine/core';
import { createContext, type ReactNode, useEffect, useState } from 'react';
import { useBrand } from '../data/brand.ts';
import { Breaks } from './Breaks.tsx';

interface PageProps {
  title: string;
  /** Beside the title: a state, or what one does here. */
  aside?: ReactNode;
  children: ReactNode;
}

/** Tells the page around which of the pages that belong together is shown. */
export const ShownSection = createContext<(label: string | null) => void>(() => undefined);

/**
 * A page: its one heading, which is the name of the browser's tab as well. Of pages that belong together each has a name of its own:
 * who has several open, or goes back through them, tells them apart by it.
 */
export function Page({ title, aside, children }: PageProps) {
  const { name } = useBrand();
  const [section, setSection] = useState<string | null>(null);
  useEffect(() => {
    const parts = section === null || section === title ? [title, name] : [section, title, name];
    document.title = parts.join(' · ');
  }, [section, title, name]);
  return (
    <Stack gap="lg">
      <Group justify="space-between" gap="sm">
        <Title order={1} size="h2" style={{ overflowWrap: 'anywhere' }}>
          <Breaks name={title} />
        </Title>
        {aside !== undefined && <Group gap="xs">{aside}</Group>}
      </Group>
      <ShownSection value={setSection}>{children}</ShownSection>
    </Stack>
  );
}
