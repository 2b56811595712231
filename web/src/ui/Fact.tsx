import { Text } from '@mantine/core';
import type { ReactNode } from 'react';

/** A name and what stands for it. */
export function Fact({ name, children }: { name: string; children: ReactNode }) {
  return (
    <div>
      <Text size="sm" c="dimmed">
        {name}
      </Text>
      <Text component="div" style={{ overflowWrap: 'anywhere' }}>
        {children}
      </Text>
    </div>
  );
}
