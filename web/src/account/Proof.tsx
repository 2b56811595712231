import { Suspense, useEffect } from 'react';
import { attend, useLack } from '../data/asking.ts';
import { lazyPage } from '../lazyPage.tsx';

const Questions = lazyPage(() => import('./Questions.tsx'), 'Questions');

/**
 * Asks whoever looks for what a call lacks, above the page that made it. Then the call goes on. Few are ever asked, so what
 * asks them is loaded when they are; the page stays as it is until it is there.
 */
export function Proof() {
  const lack = useLack();
  useEffect(attend, []);
  return <Suspense>{lack !== null && <Questions />}</Suspense>;
}
