import { Button, CopyButton } from '@mantine/core';
import { useState } from 'react';
import { asCurl, asTypeScript, type Call, callOf } from '../data/asCode.ts';
import { useText } from '../text/index.ts';
import { Dialog } from './Dialog.tsx';

interface AsCodeProps<Prepared> {
  /** What it needs of elsewhere. It is had before anybody looks: what others ask meanwhile is theirs. */
  prepare?: () => Promise<Prepared>;
  /** Asks at once. */
  act: (prepared: Prepared) => Promise<unknown>;
  /** Nothing is changed by it. */
  isReading?: boolean;
}

/** Shows what a form would ask of the API, with what was typed and without a secret, and asks nothing. */
export function AsCode<Prepared = undefined>({ prepare, act, isReading = false }: AsCodeProps<Prepared>) {
  const { t } = useText();
  const [shown, setShown] = useState<{ call: Call; command: string | null } | 'none' | null>(null);
  const origin = window.location.origin;
  return (
    <>
      <Button
        variant="subtle"
        color="gray"
        aria-label={t('asCode.show')}
        title={t('asCode.show')}
        onClick={async () => {
          // A file that is there no longer cannot be sent either.
          const call = await Promise.resolve(prepare?.())
            .then((prepared) => callOf(() => act(prepared as Prepared), isReading))
            .catch(() => null);
          if (call === null) return setShown('none');
          // Its script may be out of reach; the other two need none, and the next press asks for it again.
          const found = await import('../data/asCommand.ts').catch(() => null);
          setShown({ call, command: found?.asCommand(call) ?? null });
        }}
      >
        {'</>'}
      </Button>
      <Dialog title={t('asCode.title')} isOpen={shown !== null} onClose={() => setShown(null)}>
        {shown === 'none' && <p>{t('asCode.none')}</p>}
        {shown !== null && shown !== 'none' && (
          <>
            <p>{t('asCode.text')}</p>
            {[
              ['curl', asCurl(shown.call, origin)] as const,
              ...(shown.command === null ? [] : [['CLI', shown.command] as const]),
              ['TypeScript', asTypeScript(shown.call, origin)] as const,
            ].map(([name, code]) => (
              <section key={name} aria-label={name}>
                <h3>{name}</h3>
                {/* biome-ignore lint/a11y/noNoninteractiveTabindex: what scrolls is reached by the keyboard too */}
                <pre className="code" tabIndex={0}>
                  {code}
                </pre>
                <CopyButton value={code}>
                  {({ copied, copy }) => (
                    <Button size="xs" variant="default" onClick={copy}>
                      {t(copied ? 'app.copied' : 'app.copy')}
                    </Button>
                  )}
                </CopyButton>
              </section>
            ))}
          </>
        )}
      </Dialog>
    </>
  );
}
