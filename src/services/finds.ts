import { type FindSource, type Found, firstOf, idIn, type StaffFindSource } from '../platform/http/index.ts';
import { statement } from '../platform/index.ts';
import { addressIn, listServices, primaryIp } from './read.ts';
import { listServicesForStaff } from './serviceStaff.ts';

interface Row {
  id: number;
  domain: string | null;
  status: string;
  primary_ip: string | null;
}

const exactly = statement<Row, { organizationId: number; id: number | null; address: string | null }>(
  'services.exactly',
  `select t.id, t.domain, t.status, coalesce(:address::text, ${primaryIp}) as primary_ip
   from services t where t.organization_id = :organizationId and (t.id = :id::bigint
     or t.status <> 'pending' and t.id = (select a.service_id from addresses a
       where a.address = :address::inet and not a.held))`,
);

/** A customer's services by the beginning of a name, by a whole address, or by their number. */
export const serviceFinds = {
  kind: 'service',
  permission: 'service.read',
  find: async (ctx, words, limit) => {
    const id = idIn(words);
    const address = addressIn(words);
    if (id === null && address === null)
      return (await listServices(ctx, firstOf(words, limit))).services.map(asFound);
    const { organizationId } = ctx;
    return (await ctx.db.many(exactly, { organizationId, id, address })).map(asFound);
  },
} as const satisfies FindSource;

/** The same of everybody's. */
export const serviceStaffFinds = {
  kind: 'service',
  find: async (ctx, words, limit) => {
    const { services } = await listServicesForStaff(ctx, firstOf(words, limit));
    return services.map((service) => ({
      ...asFound(service),
      detail: [service.primary_ip, service.organization.name].filter(Boolean).join(' · '),
    }));
  },
} as const satisfies StaffFindSource;

function asFound({ id, domain, status, primary_ip }: Row): Found {
  return { id: String(id), title: domain ?? `#${id}`, detail: primary_ip, status };
}
