import { queryOptions, useQuery } from '@tanstack/react-query';
import type { Schema } from '../../../client/index.ts';
import { client } from './client.ts';

export type Brand = Schema<'Brand'>;

const remembered = 'innkeeper.brand';

/** What is shown when the provider's own cannot be read. */
const plain: Brand = {
  name: 'Innkeeper',
  accent: '#0b6e4f',
  accent_on_light: '#0b6e4f',
  accent_on_dark: '#67a491',
  font: 'system',
  radius: 8,
  logo_light: null,
  logo_dark: null,
  favicon: null,
  links: { imprint: null, terms: null, privacy: null, status: null },
  pages: [],
  registration: 'everybody',
  sign_in: { en: null, de: null },
  empty: {
    services: { en: null, de: null },
    invoices: { en: null, de: null },
    tickets: { en: null, de: null },
  },
  languages: ['en', 'de'],
  currency: 'EUR',
  variables: { light: {}, dark: {} },
};

/** As it was the last time: pages are painted in it at once. */
function lastSeen(): Brand | undefined {
  try {
    const kept = JSON.parse(localStorage.getItem(remembered) ?? 'null') as Partial<Brand> | null;
    return kept === null ? undefined : { ...plain, ...kept };
  } catch {
    return undefined;
  }
}

/** How the company looks to customers. */
export const brand = queryOptions({
  queryKey: ['brand'],
  queryFn: async ({ signal }) => {
    const { brand: found } = await client.get('/brand', { signal });
    localStorage.setItem(remembered, JSON.stringify(found));
    return found;
  },
  initialData: lastSeen,
  initialDataUpdatedAt: 0,
  staleTime: 300_000,
});

export function useBrand(): Brand {
  return useQuery(brand).data ?? plain;
}
