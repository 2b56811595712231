import {
  defaultRangeExtractor,
  type Range,
  useWindowVirtualizer,
  type VirtualItem,
} from '@tanstack/react-virtual';
import {
  Fragment,
  type RefObject,
  useCallback,
  useEffect,
  useLayoutEffect,
  useMemo,
  useRef,
  useState,
} from 'react';
import { isOld, lookAt } from '../data/sight.ts';
import { Cells, type RowsOfProps } from './RowsOf.tsx';

interface ManyRowsProps<Item> extends RowsOfProps<Item> {
  /** Holds all of its rows yet, where they were few before. */
  body: RefObject<HTMLTableSectionElement | null>;
}

const usualHeight = 53;
/** Drawn beyond what is in sight, so that moving by keyboard always has a next one. */
const beyond = 10;

/** How high rows were, by the address of their page: whoever comes back to it is at the same place. */
const heights = new Map<string, VirtualItem[]>();

/** The rows of a long list: those that are in sight or have the focus, and gaps as high as the others. */
export function ManyRows<Item>({ items, keyOf, columns, more, body }: ManyRowsProps<Item>) {
  const [top, setTop] = useState(0);
  const [focusedKey, setFocused] = useState<string | number | null>(null);
  const focused = useMemo(
    () => (focusedKey === null ? -1 : items.findIndex((item) => keyOf(item) === focusedKey)),
    [items, keyOf, focusedKey],
  );
  const [address] = useState(() => window.location.href);
  const [known] = useState(() => heights.get(address) ?? measured(body.current, items, keyOf));
  const before = useRef(0);
  const isFar = useRef(false);
  const [usual] = useState(() => middleOf(known.map(({ size }) => size)) ?? usualHeight);
  const virtual = useWindowVirtualizer({
    initialMeasurementsCache: known,
    count: items.length,
    estimateSize: () => usual,
    overscan: beyond,
    scrollMargin: top,
    // The same function for the same rows, or all of them would be counted anew in each frame.
    getItemKey: useCallback(
      (nth: number) => {
        const item = items[nth];
        return item === undefined ? nth : keyOf(item);
      },
      [items, keyOf],
    ),
    rangeExtractor: (range: Range) => {
      // Who goes further than a screen at once sees none of what is beyond it: that is drawn when they stop, and what they
      // went past is not measured.
      isFar.current = Math.abs(range.startIndex - before.current) > range.endIndex - range.startIndex;
      const shown = defaultRangeExtractor(isFar.current ? { ...range, overscan: 0 } : range);
      // Whoever scrolls away from what has the focus finds it again by the next key.
      return focused < 0 || shown.includes(focused)
        ? shown
        : [...shown, focused].sort((one, other) => one - other);
    },
  });
  // What stands above may have changed, such as filters that broke into another line. Scrolling changes nothing of it.
  // biome-ignore lint/correctness/useExhaustiveDependencies: whatever the page is drawn again for, and its width
  useLayoutEffect(() => {
    const now = Math.round((body.current?.getBoundingClientRect().top ?? 0) + window.scrollY);
    // The rows in sight stay where they are.
    if (top > 0 && window.scrollY > now) window.scrollBy(0, now - top);
    setTop(now);
  }, [body, items, columns, more, virtual.scrollRect?.width]);
  useLayoutEffect(() => {
    // Rows that come and go have gaps as high as they are. The browser would follow one of them all the same.
    const { style } = document.documentElement;
    style.overflowAnchor = 'none';
    return () => {
      style.overflowAnchor = '';
    };
  }, []);
  useSteadyColumns(body, columns.length, virtual.scrollRect?.width);
  const drawn = virtual.getVirtualItems();
  const measure = isFar.current ? undefined : virtual.measureElement;
  const [first, last] = [virtual.range?.startIndex ?? 0, virtual.range?.endIndex ?? 0];
  const list = useRef({});
  useEffect(() => {
    before.current = first;
    const shown = items.slice(first, last + 1) as readonly object[];
    lookAt(list.current, shown);
    if (more?.isIdle !== true) return;
    if (last >= items.length - 2 * beyond && window.scrollY > 0 && more.has) void more.load();
    else if (shown.some(isOld)) more.again();
  }, [first, last, items, more]);
  useEffect(() => {
    const { current } = list;
    return () => {
      lookAt(current, null);
      heights.set(address, virtual.takeSnapshot());
    };
  }, [address, virtual]);
  let end = top;
  const gapTo = (start: number) => {
    const height = start - end;
    return height > 0 ? (
      <tr aria-hidden className="gap">
        <td colSpan={columns.length} style={{ height }} />
      </tr>
    ) : null;
  };
  return (
    <tbody
      ref={body}
      onFocus={({ currentTarget, target }) => {
        // A dialog of a row stands elsewhere on the page, and its row stays while it is open.
        if (!currentTarget.contains(target)) return;
        const item = items[Number(target.closest('tr')?.dataset.index)];
        setFocused(item === undefined ? null : keyOf(item));
      }}
    >
      {drawn.map(({ index, key, start, end: until }) => {
        const item = items[index];
        if (item === undefined) return null;
        const gap = gapTo(start);
        end = until;
        return (
          <Fragment key={key}>
            {gap}
            <tr ref={measure} data-index={index} aria-rowindex={index + 2}>
              <Cells item={item} columns={columns} />
            </tr>
          </Fragment>
        );
      })}
      {gapTo(top + virtual.getTotalSize())}
    </tbody>
  );
}

/** How high rows are that are all drawn, so that none moves when some of them go. */
function measured<Item>(
  body: HTMLTableSectionElement | null,
  items: readonly Item[],
  keyOf: (item: Item) => string | number,
): VirtualItem[] {
  let end = 0;
  return [...(body?.rows ?? [])].flatMap(({ offsetHeight: size }, index) => {
    const item = items[index];
    if (item === undefined) return [];
    end += size;
    return [{ index, key: keyOf(item), size, start: end - size, end, lane: 0 }];
  });
}

const middleOf = (sizes: readonly number[]) =>
  [...sizes].sort((one, other) => one - other)[Math.floor(sizes.length / 2)];

/** Columns stay as wide as the first rows made them, or they would jump while one scrolls. */
function useSteadyColumns(body: RefObject<HTMLElement | null>, columns: number, width = 0): void {
  // biome-ignore lint/correctness/useExhaustiveDependencies: measured once for so many columns in a window of this width
  useLayoutEffect(() => {
    const table = body.current?.closest('table');
    const heads = [...(table?.querySelectorAll<HTMLElement>('thead th') ?? [])];
    const widths = heads.map((head) => head.getBoundingClientRect().width);
    // On a phone rows are no table.
    if (table == null || widths.some((each) => each < 2)) return;
    for (const [nth, head] of heads.entries()) head.style.width = `${widths[nth]}px`;
    table.dataset.long = 'true';
    return () => {
      for (const head of heads) head.style.width = '';
      delete table.dataset.long;
    };
  }, [columns, width]);
}
