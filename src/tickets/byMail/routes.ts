import { routes } from '../../platform/http/index.ts';
import { examples } from '../examples.ts';
import { StaffTicketData } from '../staff/schema.ts';
import * as S from './schema.ts';
import {
  assignMail,
  deleteMail,
  listUnclaimed,
  lockUnclaimed,
  openFromMail,
  readRawMail,
  readUnclaimed,
} from './unclaimed.ts';

const group = {
  tag: 'Staff: unclaimed mail',
  about: 'Mails that came in and are no ticket’s: nobody knows yet, or nothing proves, who wrote them.',
  examples,
};

const staff = { auth: 'staff', staffRoles: ['administrator', 'support'] } as const;

export const unclaimedMailRoutes = routes('/staff/unclaimed-mails', group, (route) => {
  route.get(
    '',
    {
      ...staff,
      operation: 'listUnclaimedMails',
      summary: 'List unclaimed mails',
      description: 'The newest first.',
      query: S.UnclaimedQuery,
      data: S.UnclaimedList,
    },
    (ctx, req) => listUnclaimed(ctx, req.query),
  );
  route.get(
    '/:id',
    {
      ...staff,
      operation: 'getUnclaimedMail',
      summary: 'Get unclaimed mail',
      description: 'What is written in it, as plain text.',
      params: S.MailIdParams,
      data: S.UnclaimedData,
      errors: ['not_found'],
      etag: true,
    },
    (ctx, req) => readUnclaimed(ctx, req.params.id),
  );
  route.get(
    '/:id/raw',
    {
      ...staff,
      operation: 'getRawMail',
      summary: 'Get a mail as it came',
      description:
        'The whole mail with its attachments, to be saved and never shown by a browser; also once it stands in a ticket.',
      params: S.MailIdParams,
      produces: 'message/rfc822',
      errors: ['not_found', 'attachments_unavailable'],
      drivers: ['files'],
    },
    (ctx, req) => readRawMail(ctx, req.drivers.files, req.params.id),
  );
  route.post(
    '/:id/assign',
    {
      ...staff,
      operation: 'assignUnclaimedMail',
      summary: 'Put a mail into a ticket',
      description:
        'Be sure first who wrote it. A reply is shown to the customer: as of the account that it is proved to be from, else with the name and address of the mail.',
      params: S.MailIdParams,
      body: S.Assignment,
      data: StaffTicketData,
      errors: ['not_found', 'busy'],
    },
    (ctx, req) => assignMail(ctx, req.params.id, req.body),
  );
  route.post(
    '/:id/open',
    {
      ...staff,
      operation: 'openTicketFromMail',
      summary: 'Open a ticket from a mail',
      description: 'Opens a ticket for a customer with what the mail says, and answers with it.',
      params: S.MailIdParams,
      body: S.Opening,
      data: StaffTicketData,
      errors: ['not_found', 'unknown_department'],
    },
    (ctx, req) => openFromMail(ctx, req.params.id, req.body),
  );
  route.delete(
    '/:id',
    {
      ...staff,
      operation: 'deleteUnclaimedMail',
      summary: 'Delete unclaimed mail',
      description: 'Takes the mail away with all that is known of it. Should it come again, it is not taken.',
      params: S.MailIdParams,
      data: S.MailDeleted,
      errors: ['not_found'],
      lock: (tx, req) => lockUnclaimed(tx, req.params.id),
    },
    (ctx, req) => deleteMail(ctx, req.params.id),
  );
});
