import { useText } from '../text/index.ts';
import { Copy, Section, Stack, Text } from '../ui/index.ts';

interface BegunProps {
  title: string;
  text: string;
  /** The one that was generated, which is shown here alone. */
  password: string | null;
}

/** It was asked for, and goes on above. */
export function Begun({ title, text, password }: BegunProps) {
  const { t } = useText();
  return (
    <Section title={title}>
      <Text role="status">{text}</Text>
      {password !== null && (
        <Stack gap="xs">
          <Text size="sm">{t('access.passwordOnce')}</Text>
          <Copy text={password} />
        </Stack>
      )}
    </Section>
  );
}
