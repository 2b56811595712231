import { type Link, useRouter } from '@tanstack/react-router';
import { type ComponentPropsWithoutRef, type MouseEvent, useMemo } from 'react';

interface Given extends Omit<ComponentPropsWithoutRef<'a'>, 'href'> {
  to: string;
  params?: Record<string, string>;
}

/**
 * A link of a row. A list has many: each is a plain element that asks for nothing until somebody is about to follow it, and
 * follows no state of the router, as the links of places do.
 */
function PlainLink({ to, params, ...rest }: Given) {
  const router = useRouter();
  const where = params === undefined ? '' : JSON.stringify(params);
  const href = useMemo(
    () => router.buildLocation({ to, params: where === '' ? {} : JSON.parse(where) }).href,
    [router, to, where],
  );
  const follow = (event: MouseEvent<HTMLAnchorElement>) => {
    // Another tab, another window, a file: the browser does that.
    if (event.button !== 0 || event.metaKey || event.ctrlKey || event.shiftKey || event.altKey) return;
    event.preventDefault();
    void router.navigate({ to, params });
  };
  const prepare = () => void router.preloadRoute({ to, params }).catch(() => undefined);
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
