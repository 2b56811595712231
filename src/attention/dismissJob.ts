import { Type } from 'typebox';
import { record } from '../events/index.ts';
import { IdParams, named, routes, Strict } from '../platform/http/index.ts';
import { type Context, dismissJob as dismiss, transaction } from '../platform/index.ts';
import { jobDismissed } from './events.ts';
import { examples } from './examples.ts';

const group = { tag: 'Staff: jobs', about: 'Background work that failed.', examples };

const Dismissal = named(
  'JobDismissal',
  Strict({
    reason: Type.String({
      minLength: 1,
      maxLength: 500,
      pattern: '\\S',
      'x-message': 'must not be blank',
      description: 'How it was seen to; it stands in the journal',
    }),
  }),
);

// Beside the job's other routes on the path, and not in their file: below, nobody knows the journal.
export const jobDismissalRoutes = routes('/staff/jobs', group, (route) => {
  route.post(
    '/:id/dismiss',
    {
      auth: 'staff',
      staffRoles: ['administrator', 'operator'],
      operation: 'dismissJob',
      summary: 'Dismiss a failed job',
      description:
        'Takes a job that failed or is stuck out of the lists, when it was seen to by other means. Nothing else changes, ' +
        'and for a week it can still be retried.',
      params: IdParams,
      body: Dismissal,
      data: named('JobDismissed', Type.Object({ dismissed: Type.Boolean() })),
      errors: ['not_found', 'conflict'],
    },
    (ctx, req) => dismissJob(ctx, req.params.id, req.body.reason),
  );
});

async function dismissJob(ctx: Context, id: number, reason: string) {
  return transaction(ctx, 'attention.dismissJob', async (tx) => {
    const { name, state, why, organizationId } = await dismiss(tx, id);
    const subject = { type: 'job', id };
    await record(tx, jobDismissed, {
      subject,
      organizationId,
      data: { name, state, why: why ?? '', reason },
    });
    return { dismissed: true };
  });
}
