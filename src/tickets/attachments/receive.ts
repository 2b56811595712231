import type { Files } from '../../drivers/files/index.ts';
import type { FilesOption, ReceivedFile } from '../../platform/http/index.ts';
import type { Context } from '../../platform/index.ts';
import { requireShown } from '../read.ts';
import type { Files as Attachments } from '../write.ts';
import { forgetAttachments, keepAttachment } from './keep.ts';

const option = {
  field: 'attachments',
  limits: ({ attachments: { most, bytes } }) => ({ most, bytes }),
  forget: (ctx, drivers, ids) => forgetAttachments(ctx, filesOf(drivers), ids),
} satisfies Partial<FilesOption>;

function filesOf({ files }: { files?: Files }): Files {
  if (files === undefined) throw new Error('a route that takes files names the driver that keeps them');
  return files;
}

/** What a customer sends along. */
export const attachmentsOfCustomer: FilesOption = {
  ...option,
  keep: (ctx, { drivers, content }) => {
    const { organizationId } = ctx;
    if (organizationId === null) throw new Error('a customer acts in an organization');
    return keepAttachment(ctx, filesOf(drivers), { organizationId, content });
  },
};

/** What staff sends along, in the ticket that the path names. `not_found`. */
export const attachmentsOfStaff: FilesOption = {
  ...option,
  keep: async (ctx: Context, { drivers, params, content }) => {
    const { organization_id: organizationId } = await requireShown(ctx, params.tid ?? '');
    return keepAttachment(ctx, filesOf(drivers), { organizationId, content, isUnlimited: true });
  },
};

/** What came with a request, for the message that it writes. */
export function asSent(files: readonly ReceivedFile[]): Attachments {
  return { attaching: files };
}
