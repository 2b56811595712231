import { mkdtempSync, readdirSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { Readable } from 'node:stream';
import { afterAll, beforeAll, expect, it } from 'vitest';
import { newCustomer, type Person } from '../../../test/people.ts';
import { startTestProduct, type TestProduct } from '../../../test/product.ts';
import { settled, sql } from '../../../test/sql.ts';
import { type Files, folderFiles } from '../../drivers/files/index.ts';
import { transaction } from '../../platform/index.ts';
import { openTicket } from '../create.ts';
import { forgetAttachments, keepAttachment } from './keep.ts';

const dir = mkdtempSync(path.join(tmpdir(), 'innkeeper-attachments-'));
const files: Files = folderFiles({ dir });
let product: TestProduct;
let ana: Person;
beforeAll(async () => {
  product = await startTestProduct({
    drivers: { files },
    env: { ATTACHMENT_MIB: '1', ATTACHMENT_MIB_PER_DAY: '4' },
  });
  ana = await newCustomer(product);
});
afterAll(async () => {
  await product.stop();
  rmSync(dir, { recursive: true, force: true });
});

const inFolder = () =>
  readdirSync(dir, { recursive: true, withFileTypes: true }).filter((entry) => entry.isFile()).length;
const rows = async () => (await sql(product, 'select id from ticket_attachments')).length;
const keep = (text: string | Buffer, who = ana) =>
  keepAttachment(product.ctx, files, {
    organizationId: who.organizationId,
    content: Readable.from([Buffer.from(text)]),
  });
const opening = {
  subject: 'By mail',
  department: 'support',
  priority: 'low',
  message: 'See beside',
} as const;

it('a file that came by another way than HTTP stands in the ticket that is opened with it', async () => {
  const kept = await keep('as sent');
  const author = { userId: null, name: 'Ana', email: 'ana@example.com' } as const;
  const { messageId } = await transaction(product.ctx, 'test.open', (tx) =>
    openTicket(tx, ana.organizationId, author, opening, {
      attaching: [{ id: kept.id, name: 'a/b\u0000/notes.png', claimedType: 'image/png' }],
      lies: 'kept',
    }),
  );
  expect(
    await sql(product, `select message_id, name, type, bytes from ticket_attachments where id = ${kept.id}`),
  ).toEqual([{ message_id: messageId, name: 'notes.png', type: 'text/plain', bytes: 7 }]);
  // What stands in a ticket is not taken away, by nobody.
  await forgetAttachments(product.ctx, files, [kept.id]);
  product.clock.travel(7_200_000);
  await product.periodic('tickets.forgetUnusedAttachments');
  await settled(product);
  expect([await rows(), inFolder()]).toEqual([1, 1]);
  await expect(
    transaction(product.ctx, 'test.twice', (tx) =>
      openTicket(tx, ana.organizationId, author, opening, { attaching: [{ id: kept.id, name: 'again' }] }),
    ),
  ).rejects.toMatchObject({ code: 'attachments_unavailable' });
});

it('a file that came to stand in no ticket is gone after the hour, and its quota with it', async () => {
  const before = [await rows(), inFolder()];
  await keep('left behind');
  // As after a crash between the row and the file.
  await sql(
    product,
    `insert into ticket_attachments (id, organization_id, file, bytes, created_at)
     values (7, ${ana.organizationId}, 'tickets/2026-01/7', 10, '${product.ctx.clock.now().toISOString()}')`,
  );
  await product.periodic('tickets.forgetUnusedAttachments');
  await settled(product);
  expect([await rows(), inFolder()]).toEqual([(before[0] ?? 0) + 2, (before[1] ?? 0) + 1]);
  product.clock.travel(3_700_000);
  await product.periodic('tickets.forgetUnusedAttachments');
  await settled(product);
  expect([await rows(), inFolder()]).toEqual(before);
});

it('a file that breaks off or is too long leaves nothing', async () => {
  const before = [await rows(), inFolder()];
  await expect(keep(Buffer.alloc(1_048_577))).rejects.toMatchObject({
    code: 'attachment_too_large',
    message: 'One of the files is too large; at most 1 MiB each',
  });
  const content = (async function* () {
    yield Buffer.alloc(1_000);
    throw new Error('the sender went away');
  })();
  await expect(
    keepAttachment(product.ctx, files, { organizationId: ana.organizationId, content }),
  ).rejects.toThrow('the sender went away');
  expect([await rows(), inFolder()]).toEqual(before);
});

it('an organization sends no more in a day than it may, however much at once, and another one still can', async () => {
  const bea = await newCustomer(product);
  const mib = () => keep(Buffer.alloc(1_000_000), bea);
  const all = await Promise.allSettled(Array.from({ length: 8 }, mib));
  const refused = all.filter((each) => each.status === 'rejected').map((each) => each.reason.code);
  expect([all.length - refused.length, new Set(refused)]).toEqual([4, new Set(['attachments_full'])]);
  await keep('another one', await newCustomer(product));
  product.clock.travel(25 * 3_600_000);
  await mib();
});
