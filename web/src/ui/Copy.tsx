import { Button, Code, CopyButton, Group } from '@mantine/core';
import { useText } from '../text/index.ts';

/** A line that is meant to be taken elsewhere. */
export function Copy({ text }: { text: string }) {
  const { t } = useText();
  return (
    <Group gap="xs" wrap="nowrap">
      <Code p="xs" style={{ overflowWrap: 'anywhere', fontSize: 'var(--mantine-font-size-sm)' }}>
        {text}
      </Code>
      <CopyButton value={text}>
        {({ copied, copy }) => (
          <Button size="xs" variant="default" onClick={copy} style={{ flexShrink: 0 }}>
            {t(copied ? 'app.copied' : 'app.copy')}
          </Button>
        )}
      </CopyButton>
    </Group>
  );
}
