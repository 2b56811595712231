import { type MailDeclaration, mail } from '../events/index.ts';
import { momentFor } from '../platform/index.ts';
import { attackEnded, attackStarted } from './events.ts';
import { say } from './texts/index.ts';

const options = { permission: 'shield.manage', about: 'services' } as const;

const began = mail(
  attackStarted,
  ({ data: { address, description, pps, mbps, started_at } }, reader) => ({
    subject: say(reader, 'attack.subject', { address, what: description }),
    blocks: [
      say(reader, 'attack.what', { address, what: description, since: momentFor(reader, started_at) }),
      say(reader, 'attack.rate', { pps: String(pps), mbps: String(mbps) }),
      say(reader, 'attack.next'),
    ],
  }),
  { ...options, when: ({ is_first }) => is_first },
);

const over = mail(
  attackEnded,
  ({ data: { address, description, pps, mbps, bytes, started_at, ended_at } }, reader) => ({
    subject: say(reader, 'over.subject', { address }),
    blocks: [
      say(reader, 'over.what', {
        ...{ address, what: description },
        ...{ since: momentFor(reader, started_at), until: momentFor(reader, ended_at) },
      }),
      say(reader, 'over.rate', {
        ...{ pps: String(pps), mbps: String(mbps) },
        volume: String(Math.round(bytes / 1e6)),
      }),
    ],
  }),
  { ...options, when: ({ is_first }) => is_first },
);

/** What customers are told of attacks: of the first within an hour, and not of each pause of one. */
export const shieldMails: MailDeclaration[] = [began, over];
