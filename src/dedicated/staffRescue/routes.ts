import { answer, IdParams, routes } from '../../platform/http/index.ts';
import { staffRescueExamples } from './examples.ts';
import { rescueServer } from './rescue.ts';
import * as S from './schema.ts';

const group = { tag: 'Staff: servers', examples: staffRescueExamples };

export const staffRescueRoutes = routes('/staff/servers', group, (route) => {
  route.post(
    '/:id/rescue',
    {
      auth: 'staff',
      area: 'vps',
      staffRoles: ['administrator', 'operator'],
      params: IdParams,
      operation: 'rescueServer',
      summary: 'Turn rescue system of a server on or off',
      description:
        'Starts a server that is nobody’s into a rescue system in memory, with your SSH keys at the address that the network of servers gives it, and with a password for its serial line; until it is turned ' +
        'off, which switches the server off. Disks stay as they are. One in stock is put into quarantine first, so that nobody buys it meanwhile. Not of one that a customer rents: they do it themselves.',
      body: S.StaffRescue,
      data: S.StaffRescueData,
      errors: ['not_found', 'conflict', 'locked', 'weak_password'],
    },
    async (ctx, req) =>
      answer(await rescueServer(ctx, req.params.id, req.body), { 'cache-control': 'no-store' }),
  );
});
