import type { OrganizationContext } from '../../platform/index.ts';
import { hashServerPassword } from '../../services/index.ts';
import { requestAction } from '../actions/act.ts';
import { viewAction } from '../actions/history.ts';
import { actionJob } from '../actions/job.ts';
import { actionSaga, withMachine } from '../actions/saga.ts';
import { keepSecrets, openSecrets } from '../actions/secrets.ts';
import { generatePassword, requireStrong } from './identity.ts';

interface Secrets {
  passwordHash: string;
}

const passwordJob = actionJob('reset_password');

/** Sets the administrator's password on the running machine; one that we generate is in this answer alone. */
export async function resetPassword(ctx: OrganizationContext, id: number, body: { password?: string }) {
  if (body.password !== undefined) requireStrong(body.password);
  const password = body.password ?? generatePassword();
  const action = await requestAction(ctx, id, passwordJob, async (tx, vps, actionId) => {
    const secrets: Secrets = { passwordHash: hashServerPassword(password) };
    await keepSecrets(tx, vps.organization_id, actionId, secrets);
    return {};
  });
  return { action: viewAction(ctx, action), password: body.password === undefined ? password : null };
}

export const passwordReset = actionSaga(passwordJob, {
  steps: [
    {
      name: 'password',
      attempts: 2,
      do: (run) =>
        withMachine(run, async (hypervisor, spec) => {
          const { passwordHash } = await openSecrets<Secrets>(run.ctx, run.payload.actionId);
          if (passwordHash === undefined) throw new Error('the new password is gone');
          await hypervisor.setPassword(spec.id, passwordHash);
        }),
    },
  ],
});
