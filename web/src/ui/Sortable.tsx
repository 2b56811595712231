import { VisuallyHidden } from '@mantine/core';
import {
  type KeyboardEvent,
  type PointerEvent,
  type ReactNode,
  useEffect,
  useId,
  useRef,
  useState,
} from 'react';
import { useText } from '../text/index.ts';

interface SortableProps<Item> {
  label: string;
  items: readonly Item[];
  keyOf: (item: Item) => string;
  /** What it is called when it is moved. */
  nameOf: (item: Item) => string;
  /** Whether it may be moved; the others may be moved past it. */
  isMovable: (item: Item) => boolean;
  onMove: (from: number, to: number) => void;
  /** An item, with what it is held by; null for one that stays where it is. */
  children: (item: Item, handle: ReactNode) => ReactNode;
}

/** Where rows stand in the page while one of them is moved. */
interface Place {
  top: number;
  bottom: number;
}

/** One that is being moved, and where it would be put down. */
interface Held {
  from: number;
  to: number;
  places: readonly Place[];
  /** How far the pointer has gone; null for the keyboard. */
  by: number | null;
}

/** Near the edges of the window it scrolls. */
const edge = 80;
const scrollStep = 14;

/**
 * A list whose order people change: by a handle that is dragged, by mouse or finger, or by its keys: Space holds it, arrows move it, Space puts
 * it down, Escape takes it back. Nothing moves in the page itself before it is put down, so that the focus stays where it is.
 */
export function Sortable<Item>({
  label,
  items,
  keyOf,
  nameOf,
  isMovable,
  onMove,
  children,
}: SortableProps<Item>) {
  const { t } = useText();
  const list = useRef<HTMLOListElement>(null);
  const help = useId();
  const [held, setHeld] = useState<Held | null>(null);
  const [said, setSaid] = useState('');
  const wanted = useRef<string | null>(null);
  // biome-ignore lint/correctness/useExhaustiveDependencies: the row may have been made anew at its new place
  useEffect(() => {
    if (wanted.current === null) return;
    const row = [...(list.current?.children ?? [])].find(
      (each) => (each as HTMLElement).dataset.key === wanted.current,
    );
    row?.querySelector<HTMLElement>('.handle')?.focus();
    wanted.current = null;
  }, [items]);

  const placesNow = (): Place[] =>
    [...(list.current?.children ?? [])].map((row) => {
      const { top, bottom } = row.getBoundingClientRect();
      return { top: top + window.scrollY, bottom: bottom + window.scrollY };
    });
  const at = (nth: number, key: 'sort.held' | 'sort.at' | 'sort.put', of: number) => {
    const item = items[of];
    if (item === undefined) return;
    setSaid(t(key, { name: nameOf(item), nth: nth + 1, count: items.length }));
  };
  const put = ({ from, to }: Held) => {
    const item = items[from];
    setHeld(null);
    if (item === undefined) return;
    at(to, 'sort.put', from);
    if (from === to) return;
    wanted.current = keyOf(item);
    onMove(from, to);
  };

  const press = (event: KeyboardEvent, nth: number) => {
    const isHeld = held?.from === nth;
    const step = { ArrowUp: -1, ArrowDown: 1 }[event.key];
    if (event.key === ' ' || event.key === 'Enter') {
      event.preventDefault();
      if (held !== null && isHeld) return put(held);
      setHeld({ from: nth, to: nth, places: placesNow(), by: null });
      return at(nth, 'sort.held', nth);
    }
    if (held === null || !isHeld) return;
    if (event.key === 'Escape') {
      event.preventDefault();
      event.stopPropagation();
      setHeld(null);
      return setSaid(t('sort.back'));
    }
    if (step === undefined) return;
    event.preventDefault();
    const to = Math.min(items.length - 1, Math.max(0, held.to + step));
    setHeld({ ...held, to });
    at(to, 'sort.at', nth);
    const handle = event.currentTarget as HTMLElement;
    // Once it stands there.
    requestAnimationFrame(() => handle.scrollIntoView({ block: 'nearest' }));
  };

  const drag = (event: PointerEvent<HTMLElement>, from: number) => {
    if (event.button !== 0) return;
    event.preventDefault();
    event.currentTarget.focus();
    event.currentTarget.setPointerCapture(event.pointerId);
    const places = placesNow();
    const began = event.clientY + window.scrollY;
    const own = places[from];
    if (own === undefined) return;
    let now: Held = { from, to: from, places, by: 0 };
    let y = event.clientY;
    setHeld(now);
    const follow = () => {
      const by = y + window.scrollY - began;
      now = { ...now, by, to: nearest(places, from, by) };
      setHeld(now);
    };
    const move = (moved: globalThis.PointerEvent) => {
      y = moved.clientY;
      follow();
    };
    const scrolling = setInterval(() => {
      const way = y < edge ? -scrollStep : y > window.innerHeight - edge ? scrollStep : 0;
      if (way === 0) return;
      window.scrollBy(0, way);
      follow();
    }, 16);
    const end = (isPut: boolean) => {
      clearInterval(scrolling);
      window.removeEventListener('pointermove', move);
      window.removeEventListener('pointerup', up);
      window.removeEventListener('pointercancel', cancel);
      if (isPut) put(now);
      else setHeld(null);
    };
    const up = () => end(true);
    const cancel = () => end(false);
    window.addEventListener('pointermove', move);
    window.addEventListener('pointerup', up);
    window.addEventListener('pointercancel', cancel);
  };

  return (
    <>
      <ol ref={list} className="sortable" aria-label={label} data-held={held !== null || undefined}>
        {items.map((item, nth) => (
          <li
            key={keyOf(item)}
            data-key={keyOf(item)}
            data-moving={held?.from === nth || undefined}
            style={held === null ? undefined : { transform: `translateY(${shiftOf(held, nth)}px)` }}
          >
            {children(
              item,
              isMovable(item) ? (
                <button
                  type="button"
                  className="handle"
                  aria-label={t('sort.move', { name: nameOf(item) })}
                  aria-describedby={help}
                  aria-pressed={held?.from === nth}
                  onKeyDown={(event) => press(event, nth)}
                  onPointerDown={(event) => drag(event, nth)}
                  onBlur={() => held?.by === null && setHeld(null)}
                >
                  <span aria-hidden>⠿</span>
                </button>
              ) : null,
            )}
          </li>
        ))}
      </ol>
      <VisuallyHidden>
        <p id={help}>{t('sort.help')}</p>
        <p role="status">{said}</p>
      </VisuallyHidden>
    </>
  );
}

/** By how much a row stands elsewhere while one is held. */
function shiftOf({ from, to, places, by }: Held, nth: number): number {
  const [own, there] = [places[from], places[to]];
  if (own === undefined || there === undefined) return 0;
  if (nth === from) return by ?? (to > from ? there.bottom - own.bottom : there.top - own.top);
  const room = roomOf(places, from);
  if (from < nth && nth <= to) return -room;
  return to <= nth && nth < from ? room : 0;
}

/** What is between a row and the next one belongs to it. */
function roomOf(places: readonly Place[], nth: number): number {
  const [own, next, before] = [places[nth], places[nth + 1], places[nth - 1]];
  if (own === undefined) return 0;
  const gap = next !== undefined ? next.top - own.bottom : before !== undefined ? own.top - before.bottom : 0;
  return own.bottom - own.top + gap;
}

/** Where a row would be put down that was moved by so much: past each whose middle its edge has passed. */
function nearest(places: readonly Place[], from: number, by: number): number {
  const own = places[from];
  if (own === undefined) return from;
  const middle = (place: Place) => (place.top + place.bottom) / 2;
  if (by > 0) {
    const past = places.filter((place, nth) => nth > from && own.bottom + by > middle(place));
    return from + past.length;
  }
  return from - places.filter((place, nth) => nth < from && own.top + by < middle(place)).length;
}
