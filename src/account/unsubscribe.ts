import { readUnsubscribeToken, type Unsubscription } from '../events/index.ts';
import type { Bytes } from '../platform/http/index.ts';
import {
  actingAs,
  type Context,
  fail,
  languageOf,
  openDictionary,
  type Reader,
  requireRow,
  statement,
} from '../platform/index.ts';
import { changePreferences } from './preferences.ts';
import { say } from './texts/index.ts';

const languageOfUser = statement<{ language: string }, { userId: number }>(
  'account.language',
  'select language from users where id = :userId',
);

/** The page that a mail's link opens. It changes nothing by itself: programs that look through mails open links too. */
export async function askUnsubscription(ctx: Context, token: string): Promise<Bytes> {
  const wish = requireWish(ctx, token);
  const reader = await readerOf(ctx, wish);
  const button = say(reader, 'unsubscribe.button');
  const form = `<form method="post"><input type="hidden" name="List-Unsubscribe" value="One-Click"><button>${button}</button></form>`;
  return page(reader, `<p>${say(reader, `unsubscribe.${wish.about}`)}</p>${form}`);
}

/** Switches off what the mail was about, for whoever it was sent to (RFC 8058). `invalid_link`. */
export async function unsubscribe(ctx: Context, token: string): Promise<Bytes> {
  const wish = requireWish(ctx, token);
  const reader = await readerOf(ctx, wish);
  await changePreferences(actingAs(ctx, wish.userId), { notifications: { [wish.about]: false } });
  return page(reader, `<p>${say(reader, 'unsubscribe.done')}</p>`);
}

function requireWish(ctx: Context, token: string): Unsubscription {
  const wish = readUnsubscribeToken(token, ctx.seal);
  if (wish === null) throw fail('invalid_link');
  return wish;
}

async function readerOf(ctx: Context, { userId }: Unsubscription): Promise<Reader> {
  const { language } = await requireRow(ctx, languageOfUser, { userId });
  const dictionary = openDictionary(ctx.config.textsDir);
  return { language: languageOf(language), timezone: 'UTC', dictionary };
}

/** All of it is texts of the dictionary; nothing in it is of people. */
function page(reader: Reader, content: string): Bytes {
  const title = say(reader, 'unsubscribe.title');
  const head = `<meta charset="utf-8"><meta name="viewport" content="width=device-width, initial-scale=1"><meta name="color-scheme" content="light dark"><title>${title}</title>`;
  const html = `<!doctype html><html lang="${reader.language}"><head>${head}</head><body><h1>${title}</h1>${content}</body></html>\n`;
  return { body: Buffer.from(html), type: 'text/html; charset=utf-8' };
}
