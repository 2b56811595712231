import { Skeleton } from '@mantine/core';
import { type UseQueryOptions, useQuery } from '@tanstack/react-query';
import type { ReactNode } from 'react';
import { Page } from './Page.tsx';
import { Refusal } from './Refusal.tsx';

interface ThingProps<Data> {
  title: string;
  // biome-ignore lint/suspicious/noExplicitAny: the key of a query does not matter here.
  query: UseQueryOptions<Data, Error, Data, any>;
  children: (data: Data) => ReactNode;
}

/** The page of one thing: waiting, broken, or drawn by `children`, which is the whole page. */
export function Thing<Data>({ title, query, children }: ThingProps<Data>) {
  const read = useQuery(query);
  if (read.data !== undefined) return children(read.data);
  return (
    <Page title={title}>
      {read.error ? (
        <Refusal error={read.error} onRetry={() => void read.refetch()} />
      ) : (
        <Skeleton height={220} />
      )}
    </Page>
  );
}
