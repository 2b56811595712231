import { lazyRouteComponent } from '@tanstack/react-router';
import { type ReactNode, useEffect, useState } from 'react';
import { UnreachableError } from '../../client/index.ts';
import { Refusal } from './ui/index.ts';

/**
 * A page whose script is loaded when somebody wants to see it. When nobody answers that is said in its place, and the
 * script is asked for again; the router would load the whole page anew, of which nothing would be left. It still does
 * so where the script is gone, as after an update.
 */
export function lazyPage<const Name extends string>(load: () => Promise<Record<Name, Drawn>>, name: Name) {
  const drawn = async () => (await load())[name];
  const reached = async (): Promise<Record<string, Drawn>> => ({
    [name]: (await fetched(drawn)) ?? waitingFor(drawn),
  });
  return lazyRouteComponent(reached, name as string);
}

/** Null when nobody answers. Where somebody does by now it is asked for once more: only then what fails is gone. */
async function fetched(load: () => Promise<Drawn>): Promise<Drawn | null> {
  try {
    return await load();
  } catch {
    return (await isAnswered()) ? load() : null;
  }
}

/** Between two tries of a script that could not be fetched. */
const againMs = 3_000;

type Drawn = () => ReactNode;

/** Whether the product answers at all. */
function isAnswered(): Promise<boolean> {
  return fetch('/', { method: 'HEAD', cache: 'no-store' }).then(
    ({ ok }) => ok,
    () => false,
  );
}

/** Once an address: where the new version has no such script either, it stays with what is said. */
function isFirstTime(): boolean {
  const { href } = window.location;
  const isFirst = sessionStorage.getItem('innkeeper.reloaded') !== href;
  sessionStorage.setItem('innkeeper.reloaded', href);
  return isFirst;
}

function waitingFor(load: () => Promise<Drawn>): Drawn {
  let Loaded: Drawn | null = null;
  return function Unloaded() {
    const [, setTries] = useState(0);
    const again = () =>
      fetched(load).then(
        (found) => {
          Loaded ??= found;
          setTries((before) => before + 1);
        },
        () => {
          // Somebody answers, and has no such script: the product is another version now.
          if (isFirstTime()) window.location.reload();
        },
      );
    // biome-ignore lint/correctness/useExhaustiveDependencies: asked when it is shown, and whenever there is a network again
    useEffect(() => {
      if (Loaded !== null) return;
      void again();
      window.addEventListener('online', again);
      // The network may be there before anybody answers, and a browser that believes there is none may be wrong: it
      // takes a tunnel for none.
      const waiting = setInterval(() => Loaded === null && void again(), againMs);
      return () => {
        window.removeEventListener('online', again);
        clearInterval(waiting);
      };
    }, []);
    if (Loaded !== null) return <Loaded />;
    return <Refusal error={new UnreachableError(null)} onRetry={() => void again()} />;
  };
}
