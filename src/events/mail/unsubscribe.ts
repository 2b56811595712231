import { timingSafeEqual } from 'node:crypto';
import type { Seal } from '../../platform/index.ts';
import { type Notification, notifications } from './mail.ts';

/** Whose wish it is, and what they want no more mails about. */
export interface Unsubscription {
  userId: number;
  about: Notification;
}

/**
 * Where whoever follows it gets no more mails of a kind, without signing in (RFC 8058). It is good as long as the account is
 * there, since mails are kept for years, and good for nothing else.
 */
export function unsubscribeUrl(wish: Unsubscription, seal: Seal, publicUrl: string): string {
  const token = `${wish.userId}.${wish.about}.${proofOf(wish, seal).toString('base64url')}`;
  return `${publicUrl}/api/mail/unsubscribe?token=${token}`;
}

/** What a token of such an address asks for; null when it is none of ours. */
export function readUnsubscribeToken(token: string, seal: Seal): Unsubscription | null {
  const [id = '', kind = '', proof = ''] = token.split('.');
  const about = notifications.find((each) => each === kind);
  if (about === undefined || !/^[1-9]\d{0,15}$/.test(id)) return null;
  const wish = { userId: Number(id), about };
  const [given, wanted] = [Buffer.from(proof, 'base64url'), proofOf(wish, seal)];
  return given.length === wanted.length && timingSafeEqual(given, wanted) ? wish : null;
}

function proofOf({ userId, about }: Unsubscription, seal: Seal): Buffer {
  return seal.fingerprint(`unsubscribe ${userId} ${about}`);
}
