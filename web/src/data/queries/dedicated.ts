import { keepPreviousData, queryOptions } from '@tanstack/react-query';
import { client } from '../client.ts';

export const server = (id: number) =>
  queryOptions({
    queryKey: ['dedicated', id],
    queryFn: async ({ signal }) =>
      (await client.get('/dashboard/service/{id}/dedicated/overview', { path: { id }, signal })).dedicated,
  });

export const serverHardware = (id: number) =>
  queryOptions({
    queryKey: ['dedicated', id, 'hardware'],
    queryFn: ({ signal }) =>
      client.get('/dashboard/service/{id}/dedicated/hardware', { path: { id }, signal }),
  });

export const serverSensors = (id: number) =>
  queryOptions({
    queryKey: ['dedicated', id, 'sensors'],
    queryFn: ({ signal }) =>
      client.get('/dashboard/service/{id}/dedicated/sensors', { path: { id }, signal }),
  });

export const serverErasure = (id: number) =>
  queryOptions({
    queryKey: ['dedicated', id, 'erasure'],
    queryFn: ({ signal }) =>
      client.get('/dashboard/service/{id}/dedicated/erasure', { path: { id }, signal }),
  });

export const serverCredentials = (id: number) =>
  queryOptions({
    queryKey: ['dedicated', id, 'credentials'],
    queryFn: ({ signal }) =>
      client.get('/dashboard/service/{id}/dedicated/credentials', { path: { id }, signal }),
  });

/** Seconds between two points of each period. */
export const bandwidthSteps = { day: 300, week: 1_800, month: 7_200, year: 86_400 } as const;
export type BandwidthPeriod = keyof typeof bandwidthSteps;

export const serverBandwidth = (id: number, period: BandwidthPeriod) =>
  queryOptions({
    queryKey: ['dedicated', id, 'bandwidth', period],
    queryFn: ({ signal }) =>
      client.get('/dashboard/service/{id}/dedicated/bandwidth', { path: { id }, query: { period }, signal }),
    placeholderData: keepPreviousData,
  });

export const serverBandwidthSummary = (id: number) =>
  queryOptions({
    queryKey: ['dedicated', id, 'bandwidth'],
    queryFn: ({ signal }) =>
      client.get('/dashboard/service/{id}/dedicated/bandwidth/summary', { path: { id }, signal }),
  });
