import { useMutation, useQuery, useQueryClient } from '@tanstack/react-query';
import { useNavigate } from '@tanstack/react-router';
import { useEffect, useRef } from 'react';
import { ApiError } from '../../client/index.ts';
import { client } from './data/client.ts';
import { actAs } from './data/impersonation.ts';
import { endSession, session } from './data/queries/index.ts';
import { type Language, languageOf, setLanguage } from './text/index.ts';
import { useTheme } from './ui/index.ts';

/** What the houses of customers and of staff have in common: who is signed in, in which language, and how they leave. */
export function useHouse() {
  const navigate = useNavigate();
  const queries = useQueryClient();
  const { data: signedIn } = useQuery(session);
  const wanted = signedIn?.preferences.language;
  const isLeaving = useRef(false);
  const signOut = useMutation({
    onError: () => {
      isLeaving.current = false;
    },
    mutationFn: async () => {
      isLeaving.current = true;
      actAs(null);
      await client.post('/auth/logout').catch((error: unknown) => {
        // Ended already. Anything else leaves the session open, and that is said.
        if (!(error instanceof ApiError) || error.status !== 401) throw error;
      });
      await endSession();
      await navigate({ to: '/sign-in' });
    },
  });
  const speak = (language: Language) => {
    setLanguage(language);
    void client.post('/dashboard/account/preferences', { body: { language } }).then(
      () => queries.invalidateQueries({ queryKey: session.queryKey }),
      () => undefined, // It is spoken here; the account keeps the one before.
    );
  };
  useTheme(signedIn?.preferences.theme);
  useEffect(() => {
    if (wanted !== undefined) setLanguage(languageOf(wanted));
  }, [wanted]);
  useEffect(() => {
    // The session ended elsewhere: whoever signs in again goes on here.
    const { pathname, search } = window.location;
    if (signedIn === null && pathname !== '/sign-in' && !isLeaving.current)
      void navigate({ to: '/sign-in', search: { next: pathname + search, ended: true } });
  }, [signedIn, navigate]);
  return { signedIn, signOut, speak };
}
