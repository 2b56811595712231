import { useEffect, useRef, useState } from 'react';
import type { ConsoleKind } from '../../data/states.ts';
import { useText } from '../../text/index.ts';
import { Button, Dialog, Group, LongField, Refusal, Stack, Text } from '../../ui/index.ts';
import type { Viewer } from './viewer.ts';

/** Each is a chunk with its own styles; the builder takes those of one import along, so they stand apart. */
const viewers = {
  vnc: () => import('./screen.ts'),
  serial: () => import('./serial.ts'),
} as const;

type Phase = { is: 'opening' | 'open' } | { is: 'closed'; code: number } | { is: 'failed'; error: unknown };

/** Why a console ended, as far as its code says. */
const endings: Readonly<Record<number, 'notAllowed' | 'notNow' | 'tooMany' | 'stopping' | 'takenOver'>> = {
  1001: 'stopping',
  1008: 'notAllowed',
  1011: 'notNow',
  1013: 'tooMany',
  4001: 'takenOver',
};

/** Of a server its own words, where those of a machine would be wrong. */
function endingOf(code: number, isServer: boolean) {
  const why = endings[code] ?? 'lost';
  if (isServer && why === 'notNow') return 'serverNotNow';
  return isServer && why === 'notAllowed' ? 'serverNotAllowed' : why;
}

export interface LineProps {
  type: ConsoleKind;
  /** What asks for a ticket. */
  ask: (signal: AbortSignal) => Promise<{ wss_url: string }>;
  /** A server shows one viewer its line, a machine many. */
  isServer?: boolean;
}

/** A screen or a serial line, with what ends it and begins it again. */
export function Line({ type, ask, isServer = false }: LineProps) {
  const { t } = useText();
  const place = useRef<HTMLDivElement>(null);
  const frame = useRef<HTMLDivElement>(null);
  const leave = useRef<HTMLButtonElement>(null);
  const viewer = useRef<Viewer | null>(null);
  const [phase, setPhase] = useState<Phase>({ is: 'opening' });
  const [attempt, setAttempt] = useState(0);
  const [isTyping, setTyping] = useState(false);

  // biome-ignore lint/correctness/useExhaustiveDependencies: another attempt is another ticket
  useEffect(() => {
    const { current: box } = place;
    if (box === null) return;
    const end = new AbortController();
    setPhase({ is: 'opening' });
    const told = {
      onOpen: () => setPhase({ is: 'open' }),
      onClose: (code: number) => setPhase({ is: 'closed', code }),
    };
    const begin = async () => {
      // First what draws, since a ticket is good for half a minute.
      const { open } = await viewers[type]();
      const { wss_url: url } = await ask(end.signal);
      if (end.signal.aborted) return;
      viewer.current = open(box, url, told);
      viewer.current.focus();
    };
    begin().catch((error: unknown) => {
      if (!end.signal.aborted) setPhase({ is: 'failed', error });
    });
    return () => {
      end.abort();
      viewer.current?.close();
      viewer.current = null;
      box.replaceChildren();
    };
  }, [type, attempt]);

  useEffect(() => {
    const { current: box } = place;
    // The console takes every key, Tab as well: there is one way out of it.
    const out = (event: KeyboardEvent) => {
      if (event.key !== 'Escape' || !event.shiftKey) return;
      event.preventDefault();
      event.stopPropagation();
      leave.current?.focus();
    };
    box?.addEventListener('keydown', out, true);
    return () => box?.removeEventListener('keydown', out, true);
  }, []);

  const again = () => setAttempt((before) => before + 1);
  const isOpen = phase.is === 'open';
  // Then there is nothing to show, and trying again stands beside why.
  const isFailed = phase.is === 'failed';
  return (
    <Stack gap="xs" ref={frame} className="console">
      <Group gap="xs">
        <Text size="sm" role="status" fw={600}>
          {phase.is === 'opening' && t('console.opening')}
          {isOpen && t('console.open')}
          {phase.is === 'closed' && t(`console.${endingOf(phase.code, isServer)}`)}
        </Text>
        {phase.is === 'closed' && (
          <Button size="xs" onClick={again}>
            {t('console.again')}
          </Button>
        )}
        {!isFailed && (
          <>
            <Button
              ref={leave}
              size="xs"
              variant="default"
              onClick={() => {
                void frame.current?.requestFullscreen();
                viewer.current?.focus();
              }}
            >
              {t('console.fullScreen')}
            </Button>
            <Button size="xs" variant="default" disabled={!isOpen} onClick={() => setTyping(true)}>
              {t('console.paste')}
            </Button>
            {type === 'vnc' && (
              <Button
                size="xs"
                variant="default"
                disabled={!isOpen}
                onClick={() => viewer.current?.pressCtrlAltDel?.()}
              >
                {t('console.ctrlAltDel')}
              </Button>
            )}
          </>
        )}
      </Group>
      {phase.is === 'failed' && <Refusal title={t('console.cannot')} error={phase.error} onRetry={again} />}
      <div ref={place} className="console-place" data-phase={phase.is} hidden={isFailed} />
      {!isFailed && (
        <Text size="sm" c="dimmed">
          {t('console.leave')}
        </Text>
      )}
      <Dialog title={t('console.paste')} isOpen={isTyping} onClose={() => setTyping(false)}>
        <form
          onSubmit={(event) => {
            event.preventDefault();
            const text = new FormData(event.currentTarget).get('text');
            if (typeof text === 'string') viewer.current?.type(text);
            setTyping(false);
            viewer.current?.focus();
          }}
        >
          <Stack>
            <LongField name="text" label={t('console.text')} help={t('console.textHelp')} autoFocus />
            <Group>
              <Button type="submit">{t('console.type')}</Button>
            </Group>
          </Stack>
        </form>
      </Dialog>
    </Stack>
  );
}
