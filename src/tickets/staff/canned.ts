import { record } from '../../events/index.ts';
import { type ListRequest, listData, pagedList } from '../../platform/http/index.ts';
import {
  type Context,
  fail,
  isDuplicate,
  newId,
  requireRow,
  type StaffContext,
  statement,
  type TxContext,
  transaction,
} from '../../platform/index.ts';
import { cannedReplyChanged, cannedReplyCreated, cannedReplyDeleted } from '../events.ts';
import { nameOf } from '../read.ts';
import { byTid, plainTid } from '../rows.ts';
import { departmentOf } from '../settings.ts';

interface CannedReply {
  id: number;
  name: string;
  message: string;
  created_at: Date;
  updated_at: Date;
}

const columns = 'c.id, c.name, c.message, c.created_at, c.updated_at';

const replies = pagedList<CannedReply>({
  name: 'tickets.canned',
  from: 'ticket_canned_replies c',
  select: `select ${columns} from ticket_canned_replies c`,
  key: { by: 'c.id', type: 'bigint', of: (row) => row.id },
  sorts: { name: { by: 'c.name', type: 'text', of: (row) => row.name } },
  order: 'name',
});
const byId = statement<CannedReply, { id: number }>(
  'tickets.cannedById',
  `select ${columns} from ticket_canned_replies c where c.id = :id`,
);
const lock = statement<CannedReply, { id: number }>(
  'tickets.lockCanned',
  `select ${columns} from ticket_canned_replies c where c.id = :id for update`,
);
const insert = statement<never, { id: number; name: string; message: string; now: Date }>(
  'tickets.insertCanned',
  `insert into ticket_canned_replies (id, name, message, created_at, updated_at) values (:id, :name, :message, :now, :now)`,
);
const update = statement<never, { id: number; name: string; message: string; now: Date }>(
  'tickets.updateCanned',
  'update ticket_canned_replies set name = :name, message = :message, updated_at = :now where id = :id',
);
const remove = statement<never, { id: number }>(
  'tickets.deleteCanned',
  'delete from ticket_canned_replies where id = :id',
);

interface Facts {
  first_name: string | null;
  last_name: string | null;
  organization: string;
  tid: string;
  subject: string;
  department: string;
  domain: string | null;
  staff_first: string | null;
  staff_last: string | null;
}

const factsOf = statement<Facts, { tid: string; staffId: number }>(
  'tickets.cannedFacts',
  `select u.first_name, u.last_name, o.name as organization, t.tid, t.subject, t.department, s.domain,
     a.first_name as staff_first, a.last_name as staff_last
   from tickets t join organizations o on o.id = t.organization_id left join users u on u.id = t.user_id
   left join services s on s.id = t.service_id and s.organization_id = t.organization_id
     left join users a on a.id = :staffId
   where ${byTid}`,
);

type Fill = (facts: Facts, department: string) => string | null;

/** What a canned reply can have in it, as `{{ticket.tid}}`. */
const variables: Record<string, Fill> = {
  'customer.first_name': ({ first_name }) => first_name,
  'customer.name': (facts) => nameOf(facts),
  'customer.organization': ({ organization }) => organization,
  'ticket.tid': ({ tid }) => tid,
  'ticket.subject': ({ subject }) => subject,
  'ticket.department': (_, department) => department,
  'service.domain': ({ domain }) => domain,
  'staff.first_name': ({ staff_first }) => staff_first,
  'staff.name': ({ staff_first, staff_last }) => nameOf({ first_name: staff_first, last_name: staff_last }),
};
export const variableNames = Object.keys(variables);

const placeholder = /\{\{\s*([^{}]*?)\s*\}\}/g;

/** What stands for something else in a text. */
function namedIn(text: string): string[] {
  return [...new Set([...text.matchAll(placeholder)].map((match) => match[1] ?? ''))];
}

/** An answer in which a variable was left as it stands is not sent. `canned_reply_unfilled`. */
export function requireFilled(text: string): void {
  const left = namedIn(text).filter((name) => name in variables);
  if (left.length === 0) return;
  const names = left.map((name) => `{{${name}}}`).join(', ');
  throw fail('canned_reply_unfilled', {
    message: `The text still has ${names} in it; put the words there first`,
  });
}

export async function listCannedReplies(ctx: Context, query: ListRequest) {
  const { rows, at } = await replies(ctx, query);
  return listData('canned_replies', rows, at);
}

export async function readCannedReply(ctx: Context, id: number) {
  return { canned_reply: await requireRow(ctx, byId, { id }) };
}

export async function lockCannedReply(tx: TxContext, id: number): Promise<void> {
  await tx.db.maybe(lock, { id });
}

interface Text {
  name: string;
  message: string;
}

/** `canned_reply_unknown_variable`, `duplicate_canned_reply`. */
export function createCannedReply(ctx: StaffContext, { name, message }: Text) {
  return transaction(ctx, 'tickets.createCanned', async (tx) => {
    requireKnown(message);
    const id = newId();
    await named(tx.db.run(insert, { id, name, message, now: tx.clock.now() }));
    await record(tx, cannedReplyCreated, { ...of(id), data: { name } });
    return readCannedReply(tx, id);
  });
}

/** Changes what is named of it. `not_found`, `canned_reply_unknown_variable`, `duplicate_canned_reply`. */
export function changeCannedReply(
  ctx: StaffContext,
  id: number,
  change: { name?: string | undefined; message?: string | undefined },
) {
  return transaction(ctx, 'tickets.changeCanned', async (tx) => {
    const before = await requireRow(tx, lock, { id });
    const { name = before.name, message = before.message } = change;
    requireKnown(message);
    await named(tx.db.run(update, { id, name, message, now: tx.clock.now() }));
    await record(tx, cannedReplyChanged, { ...of(id), data: { name } });
    return readCannedReply(tx, id);
  });
}

export function deleteCannedReply(ctx: StaffContext, id: number) {
  return transaction(ctx, 'tickets.deleteCanned', async (tx) => {
    const { name } = await requireRow(tx, lock, { id });
    await tx.db.run(remove, { id });
    await record(tx, cannedReplyDeleted, { ...of(id), data: { name } });
    return { deleted: true };
  });
}

function of(id: number) {
  return { subject: { type: 'canned_reply', id }, organizationId: null };
}

/** What it would say in a ticket; nothing is sent. `not_found`, `canned_reply_unfilled` when something of it is empty there. */
export async function previewCannedReply(ctx: StaffContext, id: number, { tid }: { tid: string }) {
  const { message } = await requireRow(ctx, byId, { id });
  const facts = await requireRow(ctx, factsOf, { tid: plainTid(tid), staffId: ctx.actor.userId });
  const department = (await departmentOf(ctx, facts.department)).name;
  const filled = new Map(namedIn(message).map((name) => [name, variables[name]?.(facts, department) ?? '']));
  const empty = [...filled].filter(([, value]) => value.trim() === '').map(([name]) => `{{${name}}}`);
  if (empty.length > 0)
    throw fail('canned_reply_unfilled', {
      message: `There is nothing to put in place of ${empty.join(', ')} in this ticket; write the answer yourself, or set it first`,
    });
  return { message: message.replaceAll(placeholder, (_, name: string) => filled.get(name) ?? '') };
}

function requireKnown(message: string): void {
  const strange = namedIn(message).filter((name) => !Object.hasOwn(variables, name));
  if (strange.length === 0) return;
  const [names, known] = [strange, variableNames].map((each) => each.map((name) => `{{${name}}}`).join(', '));
  throw fail('canned_reply_unknown_variable', {
    message: `Nothing is known by ${names}; there are ${known}`,
  });
}

async function named(write: Promise<number>): Promise<void> {
  await write.catch((error: unknown) => {
    throw isDuplicate(error, 'ticket_canned_replies_name') ? fail('duplicate_canned_reply') : error;
  });
}
