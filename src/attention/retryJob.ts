import { Type } from 'typebox';
import { record } from '../events/index.ts';
import { IdParams, named, routes } from '../platform/http/index.ts';
import { type Context, retryFailedJob, transaction } from '../platform/index.ts';
import { jobRetried } from './events.ts';
import { examples } from './examples.ts';

const group = { tag: 'Staff: jobs', about: 'Background work that failed.', examples };

// Beside the job's other routes on the path, and not in their file: below, nobody knows the journal.
export const jobRetryRoutes = routes('/staff/jobs', group, (route) => {
  route.post(
    '/:id/retry',
    {
      auth: 'staff',
      staffRoles: ['administrator', 'operator'],
      operation: 'retryJob',
      summary: 'Retry a failed job',
      description: 'Lets a job that failed begin again.',
      params: IdParams,
      data: named('JobRetried', Type.Object({ retried: Type.Boolean() })),
      errors: ['not_found'],
    },
    (ctx, req) => retryJob(ctx, req.params.id),
  );
});

async function retryJob(ctx: Context, id: number) {
  return transaction(ctx, 'attention.retryJob', async (tx) => {
    const { name, state, organizationId } = await retryFailedJob(tx, id);
    await record(tx, jobRetried, { subject: { type: 'job', id }, organizationId, data: { name, state } });
    return { retried: true };
  });
}
