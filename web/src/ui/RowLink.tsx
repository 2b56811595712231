import { type Link, useRouter } from '@tanstack/react-router';
import { type ComponentPropsWithoutRef, type MouseEvent, useEffect } from 'react';

interface Given extends Omit<ComponentPropsWithoutRef<'a'>, 'href'> {
  to: string;
  params?: Record<string, string>;
}

/** Kinds of pages whose scripts were asked for, for the first link to one. */
const prepared = new Set<string>();
/** Where the browser does not say when it has nothing to do, as Safari does not. */
const whenIdle = globalThis.requestIdleCallback ?? ((then: () => void) => setTimeout(then, 300));

/** As the router would say it, which looks up far more than a row needs. */
function addressOf(to: string, params: Readonly<Record<string, string>> = {}): string {
  return to.replace(/\$(\w+)/g, (_, name: string) => encodeURIComponent(params[name] ?? ''));
}

/**
 * A link of a row. A list has many: each is a plain element that asks for nothing until somebody is about to follow it, and
 * follows no state of the router, as the links of places do.
 */
function PlainLink({ to, params, ...rest }: Given) {
  const router = useRouter();
  const href = addressOf(to, params);
  const follow = (event: MouseEvent<HTMLAnchorElement>) => {
    // Another tab, another window, a file: the browser does that.
    if (event.button !== 0 || event.metaKey || event.ctrlKey || event.shiftKey || event.altKey) return;
    event.preventDefault();
    void router.navigate({ to, params });
  };
  const prepare = () => void router.preloadRoute({ to, params }).catch(() => undefined);
  // biome-ignore lint/correctness/useExhaustiveDependencies: once a kind of page, by whichever row is drawn first
  useEffect(() => {
    // All rows lead to pages of one kind, and to one of them somebody goes next: it waits for no script then.
    if (prepared.has(to)) return;
    prepared.add(to);
    whenIdle(prepare);
  }, [to]);
  return (
    <a
      {...rest}
      href={href}
      className="row-link"
      onClick={follow}
      onPointerEnter={prepare}
      onFocus={prepare}
    />
  );
}

export const RowLink = PlainLink as typeof Link;
