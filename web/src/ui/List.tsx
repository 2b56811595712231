import { Button, Center, Paper, Stack } from '@mantine/core';
import type { ReactNode } from 'react';
import { useText } from '../text/index.ts';
import { Refusal } from './Refusal.tsx';
import { manyRows, RowsOf } from './RowsOf.tsx';

export interface Column<Item> {
  /** Where it may be put away: what it is known by in every language. */
  id?: string;
  name: string;
  /** Numbers stand at the end of their column. */
  isNumber?: boolean;
  cell: (item: Item) => ReactNode;
}

interface ListProps<Item> {
  label: string;
  items: readonly Item[] | undefined;
  keyOf: (item: Item) => string | number;
  /** The first one names the row. */
  columns: readonly Column<Item>[];
  error: unknown;
  /** Said when it cannot be read: what could not be, and that nothing was changed. */
  failed?: string;
  onRetry: () => void;
  /** Shown when there is nothing. */
  empty: ReactNode;
  more?: More | undefined;
}

/** The rest of a list that is read page by page. */
export interface More {
  has: boolean;
  isLoading: boolean;
  /** Whether more may be read by itself: nothing is being read, and nothing failed. */
  isIdle: boolean;
  load: () => Promise<void>;
  /** Reads what is in sight anew. */
  again: () => void;
}

const waitingRows = [1, 2, 3, 4];

/** A list in its four states: waiting in its final shape, broken, empty, full. */
export function List<Item>({
  label,
  items,
  keyOf,
  columns,
  error,
  failed,
  onRetry,
  empty,
  more,
}: ListProps<Item>) {
  const { t } = useText();
  if (error && items === undefined) return <Refusal title={failed} error={error} onRetry={onRetry} />;
  if (items?.length === 0)
    return (
      <Paper withBorder p="xl">
        <Center>
          <Stack align="center" gap="sm">
            {empty}
          </Stack>
        </Center>
      </Paper>
    );
  return (
    <Stack>
      {error ? <Refusal title={failed} error={error} onRetry={onRetry} /> : null}
      <Paper withBorder className="list">
        <table
          className="rows"
          aria-label={label}
          aria-busy={items === undefined}
          data-many={(items !== undefined && items.length >= manyRows) || undefined}
          // With its header; how many there are is known when the last ones were read.
          aria-rowcount={items === undefined || more?.has ? -1 : items.length + 1}
        >
          <thead>
            <tr>
              {columns.map(({ name, isNumber }) => (
                <th key={name} scope="col" className={isNumber ? 'end' : undefined}>
                  {name}
                </th>
              ))}
            </tr>
          </thead>
          {items === undefined ? (
            <tbody>
              {waitingRows.map((row) => (
                <tr key={row}>
                  {columns.map(({ name }) => (
                    <td key={name}>
                      <div className="waiting" style={{ width: `${40 + ((row * 17) % 45)}%` }} />
                    </td>
                  ))}
                </tr>
              ))}
            </tbody>
          ) : (
            <RowsOf items={items} keyOf={keyOf} columns={columns} more={more} />
          )}
        </table>
      </Paper>
      {more?.has && (
        <Center>
          <Button variant="default" loading={more.isLoading} onClick={() => void more.load()}>
            {t('app.more')}
          </Button>
        </Center>
      )}
    </Stack>
  );
}
