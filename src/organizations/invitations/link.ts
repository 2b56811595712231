import { hashToken } from '../../account/index.ts';
import { linkToken, type MailLink } from '../../events/index.ts';
import type { Context } from '../../platform/index.ts';

/** How the mail that brings an invitation names its link; the token is nowhere but there. */
export function invitationLink(id: number, sending: number): MailLink {
  return { page: '/invitation', for: `invitation ${id} ${sending}` };
}

/** By what the link is known again. */
export function hashOfLink({ seal }: Context, id: number, sending: number): Buffer {
  return hashToken(linkToken(seal, invitationLink(id, sending).for));
}
