import { createRootRoute, Outlet, redirect } from '@tanstack/react-router';
import { queryClient, session } from './data/queries/index.ts';
import { mayBeSignedIn } from './data/signedIn.ts';
import { NotFound } from './NotFound.tsx';
import { Refusal } from './ui/index.ts';

/** What all pages stand on. */
export const root = createRootRoute({
  component: Outlet,
  notFoundComponent: NotFound,
  errorComponent: ({ error, reset }) => <Refusal error={error} onRetry={reset} />,
});

/** Whoever is signed in; others sign in first and come back to where they wanted to go. */
export async function requireSignedIn(href: string) {
  const ended = mayBeSignedIn();
  const signedIn = await queryClient.ensureQueryData(session);
  if (signedIn !== null) return signedIn;
  const next = href === '/' ? {} : { next: href };
  throw redirect({ to: '/sign-in', search: { ...next, ...(ended && { ended }) } });
}
