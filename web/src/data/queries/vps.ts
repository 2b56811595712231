import { keepPreviousData, queryOptions } from '@tanstack/react-query';
import { client } from '../client.ts';
import { listed } from './listed.ts';

export const machine = (id: number) =>
  queryOptions({
    queryKey: ['vps', id],
    queryFn: async ({ signal }) =>
      (await client.get('/dashboard/service/{id}/vps/overview', { path: { id }, signal })).vps,
  });

/** The newest picture of its screen, as an address under which pages may draw it: they may use `data:`, not `blob:`. */
export const machineScreen = (id: number) =>
  queryOptions({
    // Not beside what is known of the machine: it is read anew when it has changed, and not whatever happens to a machine that goes off.
    queryKey: ['screens', id],
    refetchOnMount: 'always',
    queryFn: async ({ signal }) => {
      const answer = await client.file('/dashboard/service/{id}/vps/screen', { path: { id }, signal });
      return dataUrlOf(await answer.blob());
    },
  });

function dataUrlOf(picture: Blob): Promise<string> {
  return new Promise((resolve, reject) => {
    const reader = new FileReader();
    reader.onload = () => resolve(String(reader.result));
    reader.onerror = () => reject(reader.error);
    reader.readAsDataURL(picture);
  });
}

/** What of a service is used as a machine: a virtual one, or a server that is rented whole. */
export type MachineKind = 'vps' | 'dedicated';

export const machineHistory = (kind: MachineKind, id: number, limit = 10) =>
  listed([kind, id, 'history', limit], (from, signal) =>
    client.get(`/dashboard/service/{id}/${kind}/history`, {
      path: { id },
      query: { limit, ...from },
      signal,
    }),
  );

export const chartPeriods = ['hour', 'day', 'week', 'month', 'year'] as const;
export type ChartPeriod = (typeof chartPeriods)[number];

export const machineCharts = (id: number, period: ChartPeriod) =>
  queryOptions({
    queryKey: ['vps', id, 'charts', period],
    queryFn: ({ signal }) =>
      client.get('/dashboard/service/{id}/vps/charts', { path: { id }, query: { period }, signal }),
    placeholderData: keepPreviousData,
  });

export const machineAddresses = (kind: MachineKind, id: number) =>
  queryOptions({
    queryKey: [kind, id, 'ips'],
    queryFn: async ({ signal }) =>
      (await client.get(`/dashboard/service/{id}/${kind}/ips`, { path: { id }, signal })).ips,
  });

export const machineSnapshots = (id: number) =>
  queryOptions({
    queryKey: ['vps', id, 'snapshots'],
    queryFn: ({ signal }) => client.get('/dashboard/service/{id}/vps/snapshots', { path: { id }, signal }),
  });

export const machineKeys = (id: number) =>
  queryOptions({
    queryKey: ['vps', id, 'access'],
    queryFn: async ({ signal }) =>
      (await client.get('/dashboard/service/{id}/vps/access', { path: { id }, signal })).keys,
  });
