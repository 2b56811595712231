import { answer } from '../../platform/http/index.ts';

export const prefix = '/shield/v2';
export const of = { auth: 'organization', organization: 'default-when-absent' } as const;
export const reads = { ...of, permission: 'shield.read' } as const;
export const manages = { ...of, permission: 'shield.manage' } as const;

/** What has something beside its data to say. */
export function warned<Data>({ data, warnings }: { data: Data; warnings: unknown[] }) {
  return answer(data, {}, { warnings });
}
