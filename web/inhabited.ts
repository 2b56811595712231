import { allRoutes } from '../src/api.ts';
import { enrolmentExamples } from '../src/fleet/enrolment/examples.ts';
import { exampleIds, listRoutes } from '../src/platform/http/index.ts';
import { certificates } from '../test/clusters.ts';
import { story } from '../test/description/story.ts';
import { teller } from '../test/description/tell.ts';
import { newMember } from '../test/people.ts';
import type { TestProduct } from '../test/product.ts';
import { settled, sql } from '../test/sql.ts';
import { camt, sendStatement } from '../test/statements.ts';
import { inhabitServer } from './inhabitedServer.ts';
import { inhabitShield } from './inhabitedShield.ts';

/** What would take away again what pages are to show. */
const endings = new Set([
  ...['withdrawInvitation', 'deleteWebhook', 'deleteCannedReply', 'revokeStaffKey', 'deleteSshKey'],
  ...['restoreSnapshot', 'deleteSnapshot', 'takeBackBankTransfer', 'removeTaxRate', 'endCoupon'],
  ...['revokePriceMove', 'removeOperatingSystemImage', 'terminateService', 'closeTicket', 'mergeTicket'],
  ...['releaseServer', 'retireServer', 'removeRack'],
  // Streams, which nobody would read.
  ...['followEvents', 'followAllEvents'],
]);

/** Twice as long as a name usually is; some of it can be broken between words, some nowhere. */
export const long = {
  host: 'a-machine-with-a-name-that-nobody-wants-to-type.customers.example.com',
  words: 'Niederösterreichische Donaudampfschifffahrtsgesellschaft und Töchter GmbH',
  email: `${'a.rather.long.mailbox.'.repeat(2)}name@department.subsidiary.example.com`,
  person: ['Maximiliane-Friederike', 'von Hohenstaufen-Wittgenstein'],
};

/**
 * Puts something of everything into a product, by the examples of its operations, and gives all that has a name one that
 * is twice as long as usual. Says what could not be sent.
 */
export async function inhabit(product: TestProduct): Promise<string[]> {
  const { customer, staff, demo } = product;
  const organization = demo.customer.organization_id;
  const told = teller(product, [[exampleIds.organization, organization]]);
  const failed: string[] = [];
  for (const operation of story) {
    if (endings.has(operation)) continue;
    if (operation === 'receiveBankTransfer') {
      const cart = listRoutes(allRoutes).find((route) => route.operation === 'checkout')?.example?.body;
      const { body } = await customer.post('/cart/checkout/invoice', cart);
      told.realIds.set(exampleIds.secondInvoice, body.data.invoice_id);
    }
    const { answer, said } = await told.send(operation);
    if (answer.status !== 200) failed.push(said);
  }
  await newMember(product, organization, 'technical');
  const { iban } = (await staff.get('/staff/settings')).body.data.settings.company;
  const entries = [{ text: 'nothing that anybody knows', name: long.words }, {}];
  const statement = await sendStatement(staff, camt(entries, iban === null ? {} : { account: iban }));
  if (statement.status !== 200) failed.push(`a bank statement: ${JSON.stringify(statement.body)}`);
  await sql(
    product,
    `insert into ticket_mails (id, digest, file, size_bytes, recipients, is_cut, received_at, state, reason,
       from_name, from_address, subject, text, attachments, decided_at)
     values (1, '\\x00', 'gone', 1000, $1, false, now(), 'unclaimed', 'sender_not_proved', $2, $3, $4, 'Hello', '[]', now())`,
    ...[[long.email], long.words, long.email, long.words],
  );
  await inhabitShield(product, long.words);
  await inhabitServer(product);
  await settled(product);
  await lengthen(product);
  return failed;
}

/** Tables of what people name. */
const named = [
  ...['organizations', 'products', 'api_keys', 'ssh_keys', 'ticket_canned_replies', 'passkeys'],
  ...['address_pools', 'product_groups', 'images', 'vps_snapshots', 'bank_statements'],
];

async function lengthen(product: TestProduct): Promise<void> {
  const { host, words, email } = long;
  const [first, last] = long.person;
  await sql(product, 'update users set first_name = $1, last_name = $2', first, last);
  await sql(product, 'update users set email = id || $1 where staff_role is null', email);
  // Some must not be called the same.
  for (const table of named)
    await sql(product, `update ${table} set name = $1 || ' ' || left(md5(random()::text), 6)`, words);
  await sql(product, 'update product_options set label = $1', words);
  await sql(
    product,
    'update webhook_endpoints set description = $1, url = $2',
    words,
    `https://${host}/${host}`,
  );
  await sql(product, 'update services set domain = id || $1', host);
  await sql(product, 'update tickets set subject = $1', words);
}

/** What stands for `$id` and the like in the addresses of pages. */
export async function samplesOf(product: TestProduct): Promise<Record<string, string>> {
  const { customer, staff, demo } = product;
  const first = async (client: typeof staff, path: string, list: string, key = 'id'): Promise<string> => {
    const { body } = await client.get(`${path}?limit=100`);
    const [item] = body.data?.[list] ?? [];
    if (item === undefined) throw new Error(`nothing is listed by ${path}: ${JSON.stringify(body)}`);
    return String(item[key]);
  };
  const { body } = await customer.get('/dashboard/services?limit=100');
  const machine = body.data.services.find(
    ({ status, primary_ip }: { status: string; primary_ip: string | null }) =>
      status === 'active' && primary_ip !== null,
  );
  if (machine === undefined) throw new Error(`no machine runs: ${JSON.stringify(body.data.services)}`);
  const service = String(machine.id);
  const webhook = await first(customer, '/dashboard/webhooks', 'webhooks');
  const invoice = await first(customer, '/dashboard/invoices', 'invoices');
  const tid = await first(customer, '/dashboard/tickets', 'tickets', 'tid');
  const attack = await first(customer, '/shield/v2/attacks', 'attacks', 'attack_id');
  const rules = await customer.get('/shield/v2/rules');
  const routers = await staff.get('/staff/shield/edges?kind=routers');
  return {
    '/services/$id': service,
    '/console/$id': service,
    '/invoices/$id': invoice,
    '/tickets/$tid': tid,
    '/developers/webhooks/$id': webhook,
    '/developers/deliveries/$id': await first(
      customer,
      `/dashboard/webhooks/${webhook}/deliveries`,
      'deliveries',
    ),
    '/shield/addresses/$ip': String(rules.body.data.rules[0]?.destination).replace(/\/\d+$/, ''),
    '/shield/rules/$id': String(rules.body.data.rules[0]?.id),
    '/shield/attacks/$id': attack,
    '/staff/shield-attacks/$id': attack,
    '/staff/shield-edges/$id': String(routers.body.data.edges[0]?.id),
    '/staff/tickets/$tid': tid,
    '/staff/unclaimed-mails/$id': '1',
    '/staff/organizations/$id': String(demo.customer.organization_id),
    '/staff/users/$id': await first(staff, '/staff/users', 'users'),
    '/staff/services/$id': service,
    '/staff/invoices/$id': invoice,
    '/staff/bank-statements/$id': await first(staff, '/staff/bank-statements', 'statements'),
    '/staff/products/$id': String(demo.products.vps),
    '/staff/price-moves/$id': await first(staff, '/staff/price-moves', 'price_moves'),
    '/staff/clusters/$id': await oneCluster(product),
    '/staff/racks/$id': await first(staff, '/staff/racks', 'racks'),
    '/staff/switches/$id': await oneSwitch(product),
    '/staff/servers/$id': await first(staff, '/staff/servers', 'servers'),
    '/staff/enrolment/$id': await oneArrival(product),
    '/staff/unknown-machines/$id': await oneUnknownMachine(product, Number(service)),
    '/staff/nodes/$id': await first(staff, '/staff/nodes', 'nodes'),
    '/staff/address-pools/$id': await first(staff, '/staff/address-pools', 'address_pools'),
    '/staff/mails/$id': await first(staff, '/staff/mails', 'mails'),
  };
}

/** A switch as one finds it that was read, and that nobody reads any more, so that its page stays as it is. */
async function oneSwitch(product: TestProduct): Promise<string> {
  const [row] = await sql<{ id: number }>(
    product,
    `with it as (
       insert into switches (name, location, address, port, username, auth_protocol, passphrases, check_state, checked_at, description,
         sets_vlans, heard_at, created_at)
       values ('ams2-sw1', 'AMS', '192.0.2.4', 161, 'innkeeper', 'sha256', '', 'ok', '9999-01-31', 'Example S48, version 4.2', false,
         '2026-01-31', '2026-01-31')
       on conflict (name) do update set note = null returning id),
     ports as (
       insert into switch_ports (switch_id, name, position, label, is_up, speed_mbps, uptime_ms, read_at, in_mbps, out_mbps)
       select it.id, 'Ethernet' || n, n, '', n < 3, 10000, 1, '2026-01-31', n * 12.5, n * 1.5 from it, generate_series(1, 4) n
       on conflict do nothing)
     select id from it`,
  );
  return String(row?.id);
}

/** A machine that waits to be accepted, and that is not there any more, so that its page stays as it is. */
async function oneArrival(product: TestProduct): Promise<string> {
  const { hardware } = enrolmentExamples.getArrival.data.arrival;
  const { memory_mib: memoryMib, memory_modules: memoryModules, ...rest } = hardware;
  const [row] = await sql<{ id: number }>(
    product,
    `insert into server_arrivals (state, mac, serial, inventory, arrived_at, seen_at)
     values ('waiting', '52:54:00:12:34:66', 'CZJ9380B7W', $1::jsonb, '2026-01-31', '2026-01-31') returning id`,
    JSON.stringify({ ...rest, memoryMib, memoryModules }),
  );
  return String(row?.id);
}

/** A later copy of a machine than the database knows, on a node that says nothing, so that its page stays as it is. */
async function oneUnknownMachine(product: TestProduct, service: number): Promise<string> {
  const [row] = await sql<{ id: number }>(
    product,
    `with node as (
       insert into nodes (name, location, cpu_cores, memory_mib, disk_gib, seen_at, created_at, state, reachable)
       values ('host-9', 'AMS', 8, 65536, 1000, '2026-01-31', '2026-01-31', 'draining', false)
       on conflict (name) do update set reachable = false returning id)
     insert into vps_unknown_machines (node_id, machine, service_id, addresses, found_at)
     select id, 'vps-' || $1::bigint || '-2', $1::bigint, '{203.0.113.10}', '2026-01-31' from node
     on conflict (node_id, machine) do update set found_at = excluded.found_at returning id::int as id`,
    service,
  );
  return String(row?.id);
}

/** A cluster as one finds it that was looked at and is spoken to by nobody, so that its page stays as it is. */
async function oneCluster(product: TestProduct): Promise<string> {
  const { ours } = await certificates();
  const [row] = await sql<{ id: number }>(
    product,
    `insert into clusters (name, engine, location, endpoints, project, pool, bridge, fingerprint, certificate, credential,
       check_state, version, tested, created_at)
     values ('ams1', 'incus', 'AMS', '{https://192.0.2.1:8443,https://192.0.2.2:8443}', 'innkeeper', 'local', 'br0', repeat('5f', 32),
       $1, '', 'ok', '6.0.4', 'tested', '2026-01-31')
     on conflict (name) do update set state = 'active' returning id`,
    ours.certificate,
  );
  return String(row?.id);
}
