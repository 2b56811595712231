import { useQuery } from '@tanstack/react-query';
import { type MachineKind, service } from '../data/queries/index.ts';

/** Where the API keeps what a service and a machine have in common: the page around it has read which it is. */
export function useKind(id: number): MachineKind {
  const { data: found } = useQuery(service(id));
  return found?.on_server ? 'dedicated' : 'vps';
}
