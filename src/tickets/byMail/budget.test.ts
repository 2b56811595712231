import { readdirSync } from 'node:fs';
import { join } from 'node:path';
import { afterAll, beforeAll, expect, it } from 'vitest';
import { type MailRoom, mailRoom } from '../../../test/mailsIn.ts';
import { startTestProduct, type TestProduct } from '../../../test/product.ts';
import { settled, sql } from '../../../test/sql.ts';

let room: MailRoom;
let product: TestProduct;
beforeAll(async () => {
  room = mailRoom();
  product = await startTestProduct({
    env: { MAIL_IN_ADDRESS: 'answers@in.inn.example', MAIL_IN_MIB_PER_DAY: '1' },
    drivers: { mailIn: room.mailIn },
  });
});
afterAll(() => product.stop());

const bring = (kib: number) =>
  room
    .bring({
      ...{ from: 'flood@elsewhere.example', to: 'answers@in.inn.example' },
      text: `${'x'.repeat(62)}\n`.repeat(kib * 16),
    })
    .then(
      () => 250,
      ({ responseCode }: { responseCode: number }) => responseCode,
    );
const filesKept = () => readdirSync(join(product.ctx.config.filesDir, 'mails')).length;
const rowsKept = async () => (await sql(product, 'select 1 from ticket_mails')).length;

it('one address brings a quarter of what may come in a day, and what is over that leaves nothing', async () => {
  expect([await bring(100), await bring(100), await bring(100)]).toEqual([250, 250, 452]);
  await settled(product);
  expect([await rowsKept(), filesKept()]).toEqual([2, 2]);
  expect([await bring(1), await bring(1), await bring(1), await bring(1)]).toEqual([250, 250, 250, 452]);
  product.clock.travel(25 * 3_600_000);
  expect(await bring(100)).toBe(250);
});

it('the file of a mail whose row cannot be written goes again', async () => {
  product.clock.travel(25 * 3_600_000);
  await settled(product);
  const before = filesKept();
  await sql(product, 'alter table ticket_mails add constraint none check (size_bytes < 0) not valid');
  expect(await bring(1)).toBe(451);
  await sql(product, 'alter table ticket_mails drop constraint none');
  expect(filesKept()).toBe(before);
});
