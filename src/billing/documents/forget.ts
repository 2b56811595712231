import { dayOf, job, statement } from '../../platform/index.ts';
import { namesOfFiles } from './read.ts';

const issuedOf = statement<{ id: number; number: string; issued_at: Date }, { organizationId: number }>(
  'billing.documentsToForget',
  `select id, number, issued_at from invoices where organization_id = :organizationId and issued_at is not null
   order by issued_at, id`,
);

/** Takes away the files of an organization's documents; whoever asks for one gets it drawn anew, and it is kept no more. */
export const documentForgetting = job<{ organizationId: number }>(
  'billing.forgetDocuments',
  async ({ ctx, drivers, payload }) => {
    for (const { id, number, issued_at } of await ctx.db.many(issuedOf, payload))
      for (const name of namesOfFiles({ invoiceId: id, number, date: dayOf(issued_at) }))
        await drivers.files.delete(name);
  },
  { outages: ['files_unreachable', 'files_full'] },
);
