import { Container, Group, Paper, Stack, Text, Title, UnstyledButton } from '@mantine/core';
import { type ReactNode, useEffect } from 'react';
import { useBrand } from '../data/brand.ts';
import { languages, setLanguage, useText } from '../text/index.ts';
import { BrandLinks } from './BrandLinks.tsx';
import { Logo } from './Logo.tsx';

/** The page of somebody who is not signed in: one question at a time. */
export function Card({ title, text, children }: { title: string; text?: string; children?: ReactNode }) {
  const { language } = useText();
  const { name, languages: offered } = useBrand();
  useEffect(() => {
    document.title = `${title} · ${name}`;
  }, [title, name]);
  return (
    <Container size={440} py={{ base: 'lg', sm: 80 }}>
      <Stack gap="lg">
        <Text component="p" fw={700} size="lg" ta="center">
          <Logo />
        </Text>
        <Paper component="main" withBorder p={{ base: 'md', sm: 'xl' }} radius="lg">
          <Stack gap="md">
            <Title order={1} size="h2">
              {title}
            </Title>
            {text !== undefined && <Text c="dimmed">{text}</Text>}
            {children}
          </Stack>
        </Paper>
        <Group component="footer" justify="center" gap="lg">
          <BrandLinks />
          {(offered.length > 1 ? offered : []).map((code) => (
            <UnstyledButton
              key={code}
              lang={code}
              aria-pressed={code === language}
              p="xs"
              fw={code === language ? 700 : 400}
              onClick={() => setLanguage(code)}
            >
              <Text size="sm" inherit>
                {languages[code]}
              </Text>
            </UnstyledButton>
          ))}
        </Group>
      </Stack>
    </Container>
  );
}
