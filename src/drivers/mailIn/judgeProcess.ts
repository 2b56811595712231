/** The program that judges one mail: a line says who brings it, the mail follows, and what is found goes out as JSON. */
import { Readable } from 'node:stream';
import { buffer } from 'node:stream/consumers';
import { MailInError } from './contract.ts';
import { asker, judgeMail, type Resolve } from './judge.ts';
import type { Answered, Asked, Names } from './judgeApart.ts';

function known(names: Names): Resolve {
  return async (name, type) => {
    const found = names[`${name.toLowerCase()} ${type}`];
    if (found === undefined) throw Object.assign(new Error(`no ${type} of ${name}`), { code: 'ENOTFOUND' });
    return found;
  };
}

const input = await buffer(process.stdin);
const end = input.indexOf('\n');
const { names, bySpf, ...asked } = JSON.parse(input.toString('utf8', 0, end)) as Asked;
const mail = { ...asked, content: Readable.from([input.subarray(end + 1)]) };
const answered: Answered = await judgeMail(mail, names === null ? asker() : known(names), bySpf).then(
  (judgement) => ({ judgement }),
  (error: unknown) => {
    if (error instanceof MailInError) return { later: error.message };
    throw error;
  },
);
process.stdout.write(JSON.stringify(answered));
