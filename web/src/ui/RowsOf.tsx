import { memo, type ReactNode, useEffect, useRef, useState } from 'react';
import type { Column, More } from './List.tsx';

export interface RowsOfProps<Item> {
  items: readonly Item[];
  keyOf: (item: Item) => string | number;
  columns: readonly Column<Item>[];
  more?: More | undefined;
}

/** Up to so many are drawn all of them: so they are found by the browser's own search. */
export const manyRows = 100;

type Many = typeof import('./ManyRows.tsx');
/** Most lists are never long: what draws long ones is loaded with the rows before those that make one long. */
let loaded: Many | null = null;

/** The rows of a list, as plain elements: of a long one those alone that are in sight or have the focus. */
export function RowsOf<Item>(props: RowsOfProps<Item>) {
  const { items, keyOf, columns } = props;
  const { length } = items;
  const body = useRef<HTMLTableSectionElement>(null);
  const [many, setMany] = useState(loaded);
  useEffect(() => {
    if (length < manyRows || many !== null) return;
    import('./ManyRows.tsx').then(
      (part) => {
        loaded = part;
        // Whoever is in a row stays there; with the next rows the others go.
        if (!body.current?.contains(document.activeElement)) setMany(part);
      },
      // Without it all are drawn, and with the next rows it is asked for again.
      () => undefined,
    );
  }, [length, many]);
  if (many !== null && length > manyRows) return <many.ManyRows {...props} body={body} />;
  return (
    <tbody ref={body}>
      {items.map((item) => (
        <tr key={keyOf(item)}>
          <Cells item={item} columns={columns} />
        </tr>
      ))}
    </tbody>
  );
}

interface CellsProps<Item> {
  item: Item;
  columns: readonly Column<Item>[];
}

function CellsOf<Item>({ item, columns }: CellsProps<Item>): ReactNode {
  return columns.map(({ name, isNumber, cell }, nth) => (
    <td key={name} className={isNumber ? 'end' : undefined} data-name={nth === 0 ? undefined : name}>
      {cell(item)}
    </td>
  ));
}

/** Drawn again only when the row or its columns are others: not because one scrolls. */
export const Cells = memo(CellsOf) as typeof CellsOf;
