import { Paper, Title } from '@mantine/core';
import { type ReactNode, useState } from 'react';

interface UnfoldProps {
  title: string;
  isOpen?: boolean;
  children: ReactNode;
}

/** A part of a page that is read when it is unfolded. */
export function Unfold({ title, isOpen = false, children }: UnfoldProps) {
  const [wasOpened, setOpened] = useState(isOpen);
  return (
    <Paper component="section" withBorder p="md">
      <details open={isOpen} onToggle={({ currentTarget }) => currentTarget.open && setOpened(true)}>
        <summary>
          <Title order={2} size="h4" display="inline">
            {title}
          </Title>
        </summary>
        {wasOpened && <div className="unfolded">{children}</div>}
      </details>
    </Paper>
  );
}
