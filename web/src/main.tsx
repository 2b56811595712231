import '@mantine/core/styles.css';
import './ui/ui.css';
import './ui/staff.css';
import './ui/machine.css';
import { QueryClientProvider } from '@tanstack/react-query';
import { RouterProvider } from '@tanstack/react-router';
import { StrictMode } from 'react';
import { flushSync } from 'react-dom';
import { createRoot } from 'react-dom/client';
import { isBegun } from './data/begun.ts';
import { brand } from './data/brand.ts';
import { queryClient, readFirst, session } from './data/queries/index.ts';
import { seen } from './data/seen.ts';
import { followOtherTabs } from './data/signedIn.ts';
import { handsIn } from './handsIn.ts';
import { readAhead, router } from './routes.tsx';
import { openTexts } from './text/index.ts';
import { Branded } from './ui/Branded.tsx';

/** Until something is painted without knowing who looks. */
const patienceMs = 500;

followOtherTabs();
void paintFirst();

/**
 * Not awaited by this script: those of other pages stand on it, and a script is not there before what it stands on has ended.
 */
async function paintFirst(): Promise<void> {
  const place = document.getElementById('root');
  if (place === null) throw new Error('The page has no place for the application');
  if (place.hasChildNodes()) await seen();
  // The first script has begun all of it. Where it is there soon, the first thing that is painted is the page, with what it
  // shows: drawn without and then with it, a page takes half as long again.
  const isSignedIn = isBegun('/api/dashboard/account');
  const known = Promise.all([
    queryClient.prefetchQuery(brand),
    isSignedIn ? queryClient.prefetchQuery(session).then(readFirst) : null,
    router.load(),
  ]);
  await Promise.all([openTexts(), Promise.race([known, new Promise((go) => setTimeout(go, patienceMs))])]);
  const goOn = place.hasChildNodes() ? handsIn(place) : null;
  const drawn = createRoot(place);
  const draw = () =>
    drawn.render(
      <StrictMode>
        <QueryClientProvider client={queryClient}>
          <Branded>
            <RouterProvider router={router} />
          </Branded>
        </QueryClientProvider>
      </StrictMode>,
    );
  if (goOn === null) draw();
  else {
    flushSync(draw);
    goOn();
  }
  if (isSignedIn) whenIdle(readAhead);
}

function whenIdle(work: () => void): void {
  // Safari has none.
  if (typeof requestIdleCallback === 'function') requestIdleCallback(work);
  else setTimeout(work, 1_000);
}
