import { timingSafeEqual } from 'node:crypto';
import { type Context, statement } from '../../platform/index.ts';

// Small letters and digits alone: some mail servers change the case of what stands before the @.
const letters = 'abcdefghijklmnopqrstuvwxyz234567';
const macBytes = 12;
const macLetters = 20;

/** What somebody answers to: a conversation, and the proof that we gave them its address. */
export interface AnswerAddress {
  /** Of the conversation, such as the code of a ticket. */
  code: string;
  mac: string;
}

/**
 * Where one person answers in one conversation, `answers+a1b2c3d4k5x…@inn.example`; null when no mail comes in. The address is
 * made by the installation's key for this person alone: in anybody else's hands it opens nothing.
 */
export function answerAddress(
  { config, seal }: Pick<Context, 'config' | 'seal'>,
  code: string,
  userId: number,
): string | null {
  if (config.mailInAddress === null) return null;
  const [local, domain] = config.mailInAddress.split('@');
  return `${local}+${code}${macOf({ seal }, code, userId)}@${domain}`;
}

/** What an address says to which a mail came: `plain` without a conversation, null when it is none of ours. */
export function readAnswerAddress(
  config: Context['config'],
  address: string,
): AnswerAddress | 'plain' | null {
  if (config.mailInAddress === null) return null;
  const given = address.toLowerCase();
  const [local = '', domain = ''] = config.mailInAddress.toLowerCase().split('@');
  if (given === `${local}@${domain}`) return 'plain';
  if (!given.startsWith(`${local}+`) || !given.endsWith(`@${domain}`)) return null;
  const told = given.slice(local.length + 1, -domain.length - 1);
  const [, code, mac] = new RegExp(`^([a-z0-9]{1,40})([a-z2-7]{${macLetters}})$`).exec(told) ?? [];
  return code === undefined || mac === undefined ? null : { code, mac };
}

/** Whether an address was given to this person by us. Takes as long for every wrong one. */
export function wasGivenTo(
  ctx: Pick<Context, 'seal'>,
  { code, mac }: AnswerAddress,
  userId: number,
): boolean {
  const given = Buffer.from(mac);
  const right = Buffer.from(macOf(ctx, code, userId));
  return given.length === right.length && timingSafeEqual(given, right);
}

function macOf({ seal }: Pick<Context, 'seal'>, code: string, userId: number): string {
  const mac = seal.fingerprint(`answer address ${code} ${userId}`).subarray(0, macBytes);
  let text = '';
  let bits = 0;
  let held = 0;
  for (const byte of mac) {
    held = (held << 8) | byte;
    bits += 8;
    while (bits >= 5) {
      bits -= 5;
      text += letters[(held >> bits) & 31];
    }
    held &= (1 << bits) - 1;
  }
  return bits === 0 ? text : text + letters[(held << (5 - bits)) & 31];
}

/** The mail that a conversation begins with, for programs that show mails by conversation; it was never sent. */
export function rootOf(code: string, publicUrl: string): string {
  return `<conversation.${code}@${new URL(publicUrl).hostname}>`;
}

const conversation = statement<{ conversation: string | null }, { id: number; userId: number }>(
  'events.conversationOf',
  'select conversation from mails where id = :id and user_id = :userId',
);

/** The conversation of a mail of ours that went to this person, by its Message-ID; null when it is none. */
export async function conversationOf(
  ctx: Context,
  messageId: string,
  userId: number,
): Promise<string | null> {
  const [, id, host] = /^<(\d{1,16})\.\d{1,6}\.[a-z_.]+@([^<>]+)>$/.exec(messageId) ?? [];
  if (id === undefined || host !== new URL(ctx.config.publicUrl).hostname) return null;
  return (await ctx.db.maybe(conversation, { id: Number(id), userId }))?.conversation ?? null;
}
