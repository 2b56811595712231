import { useQuery } from '@tanstack/react-query';
import type { OperationName } from '../../../client/index.ts';
import { session } from './queries/session.ts';

/** Says of an operation of staff whether whoever is signed in may call it, as the API tells. */
export function useMay(): (operation: OperationName) => boolean {
  const { data } = useQuery(session);
  const operations: ReadonlySet<string> = new Set(data?.staff?.operations);
  return (operation) => operations.has(operation);
}
