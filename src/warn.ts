import { mostConnections } from './connections.ts';
import {
  type Context,
  type Database,
  pledgeConnections,
  readConnections,
  rewritableTables,
  standbyRisk,
  tooMany,
} from './platform/index.ts';

/** Tells a person, beside the log. */
type Say = (detail: string) => void;
type Whole = Context & { readonly db: Database };

/** Says at the start what could cost money or trust later, each once in the log and once to whoever starts it. */
export async function warn(ctx: Whole, say: Say): Promise<void> {
  await warnOfRewriting(ctx, say);
  warnOfMails(ctx, say);
  await warnOfStandby(ctx, say);
}

/** Says loudly when the ledger and the journal are only kept from being changed by their triggers. */
async function warnOfRewriting(ctx: Whole, say: Say): Promise<void> {
  const { role, tables } = await rewritableTables(ctx.db);
  if (tables.length === 0) return;
  const advice =
    'give the product a role of its own with DATABASE_URL, and its owner with DATABASE_OWNER_URL';
  ctx.log.warn({ role, tables }, `the database role ${role} could rewrite the ledger: ${advice}`);
  say(`the role ${role} could rewrite the ledger: ${advice}`);
}

/** Says what mails lack that leave this host. */
function warnOfMails({ config, log }: Whole, say: Say): void {
  if (config.mailLacks.length === 0) return;
  const names = config.mailLacks.join(' and ');
  const advice = `set ${names}: with a mail server on another host, mails are from nobody or lead to this host alone`;
  log.warn({ settings: config.mailLacks }, advice);
  say(advice);
}

/** The embedded database has no standby, and nobody gives it one. */
async function warnOfStandby({ config, db, log }: Whole, say: Say): Promise<void> {
  const risk = config.databaseUrl === null ? null : await standbyRisk(db);
  if (risk === null) return;
  log.warn({}, risk);
  say(risk);
}

/** Says how many connections this process opens at most, to the other processes too, and when together they are too many. */
export async function sayConnections(ctx: Whole, url: string, say: Say): Promise<() => Promise<void>> {
  const connections = mostConnections(ctx.config);
  const stop = await pledgeConnections(url, connections, ctx.log);
  const all = await readConnections(ctx.db);
  ctx.log.info({ connections, ...all }, 'connections to the database that this process opens at most');
  const wrong = tooMany(all);
  if (wrong !== null) {
    ctx.log.warn({}, wrong);
    say(wrong);
  }
  return stop;
}
