import { readdirSync } from 'node:fs';
import { join } from 'node:path';
import { Readable } from 'node:stream';
import { afterAll, beforeAll, expect, it } from 'vitest';
import { type MailRoom, mailRoom } from '../../../test/mailsIn.ts';
import { startTestProduct, type TestProduct } from '../../../test/product.ts';
import { settled, sql } from '../../../test/sql.ts';
import { folderFiles } from '../../drivers/files/index.ts';
import { keepMail } from './keep.ts';

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
const files = () => folderFiles({ dir: product.ctx.config.filesDir });
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

it('whoever has many IPv6 addresses is one by the network around them', async () => {
  product.clock.travel(25 * 3_600_000);
  const from = (ip: string) =>
    keepMail(product.ctx, files(), {
      ...{ content: Readable.from([Buffer.from(`From ${ip}\n`), Buffer.alloc(100 * 1_024, ip)]) },
      ...{ returnPath: '', recipients: [], client: { ip, name: ip }, isCut: false },
    });
  await from('2001:db8:1:2::1');
  await from('2001:db8:1:2:ffff::2');
  await expect(from('2001:db8:1:2:3:4:5:6')).rejects.toMatchObject({ code: 'mails_full' });
  await from('2001:db8:1:3::1');
  await from('::ffff:192.0.2.1');
  await from('::ffff:192.0.2.2');
});

it('what a process left of a mail that died while it came goes after a day, and nothing else does', async () => {
  await settled(product);
  const before = filesKept();
  await files().put('mails/77.eml', Buffer.from('half'));
  await sql(
    product,
    `insert into ticket_mail_files (file, begun_at) values ('mails/77.eml', $1)`,
    product.clock.now(),
  );
  const sweep = async () => {
    await product.periodic('tickets.purgeMails');
    await settled(product);
    return filesKept();
  };
  expect(await sweep()).toBe(before + 1);
  product.clock.travel(25 * 3_600_000);
  expect(await sweep()).toBe(before);
  expect(await sql(product, 'select 1 from ticket_mail_files')).toEqual([]);
});
