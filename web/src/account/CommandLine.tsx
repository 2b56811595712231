import { useText } from '../text/index.ts';
import { Anchor, Copy, Section, Stack, Text } from '../ui/index.ts';

/** Where the command line lies at this address; the page says so where a package brings it along. */
const tool = document.querySelector('meta[name=command-line]')?.getAttribute('content') || null;

/** What somebody needs besides a key: how things are called, and a program that calls them. */
export function CommandLine() {
  const { t } = useText();
  const { origin } = window.location;
  return (
    <Section title={t('commandLine.title')}>
      <Stack gap="sm">
        <Text>
          {t('commandLine.api')} <Anchor href="/api/docs">{t('commandLine.reference')}</Anchor>
        </Text>
        {tool !== null && (
          <>
            <Text>{t('commandLine.tool')}</Text>
            <Copy text={`curl -fsSo ~/.local/bin/inn ${origin}${tool} && chmod +x ~/.local/bin/inn`} />
            <Copy text={`inn login --url ${origin}`} />
          </>
        )}
      </Stack>
    </Section>
  );
}
