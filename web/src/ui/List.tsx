import { Button, Center, Paper, Stack } from '@mantine/core';
import type { ReactNode } from 'react';
import { useText } from '../text/index.ts';
import { Refusal } from './Refusal.tsx';

export interface Column<Item> {
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
  more?: { has: boolean; isLoading: boolean; load: () => void };
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
        <table className="rows" aria-label={label} aria-busy={items === undefined}>
          <thead>
            <tr>
              {columns.map(({ name, isNumber }) => (
                <th key={name} scope="col" className={isNumber ? 'end' : undefined}>
                  {name}
                </th>
              ))}
            </tr>
          </thead>
          <tbody>
            {items === undefined
              ? waitingRows.map((row) => (
                  <tr key={row}>
                    {columns.map(({ name }) => (
                      <td key={name}>
                        <div className="waiting" style={{ width: `${40 + ((row * 17) % 45)}%` }} />
                      </td>
                    ))}
                  </tr>
                ))
              : items.map((item) => (
                  <tr key={keyOf(item)}>
                    {columns.map(({ name, isNumber, cell }, index) => (
                      <td
                        key={name}
                        className={isNumber ? 'end' : undefined}
                        data-name={index === 0 ? undefined : name}
                      >
                        {cell(item)}
                      </td>
                    ))}
                  </tr>
                ))}
          </tbody>
        </table>
      </Paper>
      {more?.has && (
        <Center>
          <Button variant="default" loading={more.isLoading} onClick={more.load}>
            {t('app.more')}
          </Button>
        </Center>
      )}
    </Stack>
  );
}
