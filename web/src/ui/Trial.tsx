import { Text } from '@mantine/core';
import { useDebouncedValue } from '@mantine/hooks';
import { keepPreviousData, useQuery } from '@tanstack/react-query';
import { type ReactNode, useContext, useEffect, useRef, useState } from 'react';
import { isSame } from '../data/drawn.ts';
import { useText } from '../text/index.ts';
import { Known } from './Field.tsx';
import { Refusal } from './Refusal.tsx';
import { mistakesTyped, typedIn, type Values } from './typed.ts';

interface TrialProps<Answer> {
  label: string;
  /** Which thing it is about. */
  about: readonly unknown[];
  /** What the API says would happen. Nothing is kept of it. */
  ask: (values: Values) => Promise<Answer>;
  /** Fields that what would happen does not depend on, and so are not waited for. */
  besides?: readonly string[];
  children: (answer: Answer) => ReactNode;
}

const none: readonly string[] = [];

/** Inside a form: what would happen if it were sent as it is now, asked anew when something is typed. */
export function Trial<Answer>({ label, about, ask, besides = none, children }: TrialProps<Answer>) {
  const { t } = useText();
  const here = useRef<HTMLElement>(null);
  const known = useContext(Known);
  // Null while something is missing, or is what the form itself would not send: asked then, the answer would only say so.
  const [typed, setTyped] = useState<Values | null>(null);
  // What is being done is not tried out any more: asked after it, the API would only say that it has been done.
  const [isSent, setSent] = useState(false);
  useEffect(() => {
    const form = here.current?.closest('form');
    if (!form) return;
    const now = () => {
      if (mistakesTyped(form, known).some(([{ name }]) => !besides.includes(name))) return null;
      const entries = Object.entries(typedIn(form)[0]);
      return Object.fromEntries(entries.filter(([name]) => !besides.includes(name)));
    };
    // What is the same is not asked for again.
    const read = () => {
      setSent(false);
      setTyped((before) => (isSame(before, now()) ? before : now()));
    };
    const send = () => setSent(true);
    read();
    form.addEventListener('submit', send);
    for (const kind of ['input', 'change']) form.addEventListener(kind, read);
    return () => {
      form.removeEventListener('submit', send);
      for (const kind of ['input', 'change']) form.removeEventListener(kind, read);
    };
  }, [besides, known]);
  const [asked] = useDebouncedValue(typed, 300);
  const look = useQuery({
    // Of its own, so that no event has it asked for again: by then it may have been done.
    queryKey: ['trial', ...about, label, asked],
    queryFn: () => ask(asked ?? {}),
    enabled: asked !== null && !isSent,
    placeholderData: keepPreviousData,
    retry: false,
    gcTime: 0,
  });
  const isOld = look.isFetching || asked !== typed;
  return (
    <section
      ref={here}
      className="trial"
      aria-label={label}
      aria-live="polite"
      aria-busy={typed !== null && isOld}
    >
      <h3>{label}</h3>
      <div className={typed !== null && isOld ? 'aging' : undefined}>
        {typed === null ? (
          <Text size="sm">{t('app.trialWaits')}</Text>
        ) : look.error !== null ? (
          <Refusal error={look.error} />
        ) : look.data === undefined ? (
          <div className="waiting" style={{ width: '60%' }} />
        ) : (
          children(look.data)
        )}
      </div>
    </section>
  );
}
