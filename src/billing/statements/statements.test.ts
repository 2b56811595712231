import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import type { Response } from '../../../test/client.ts';
import { audit } from '../../../test/crash/audit.ts';
import { newInvoice, payByCredit } from '../../../test/invoices.ts';
import { watchChanges } from '../../../test/noted.ts';
import { newCustomer, type Person } from '../../../test/people.ts';
import { startTestProduct, type TestProduct } from '../../../test/product.ts';
import { contents, settled, settledContents, sql } from '../../../test/sql.ts';
import { camt, type FileEntry, sendStatement } from '../../../test/statements.ts';

const changes = watchChanges();

let product: TestProduct;
beforeAll(async () => {
  product = await startTestProduct();
  product.clock.set(new Date('2027-01-31T12:00:00Z'));
});
afterAll(async () => {
  await settled(product);
  expect(await audit(product.databaseUrl)).toEqual([]);
  await product.stop();
});

interface Entry {
  id: number;
  state: string;
  outcome: string | null;
  transfer_id: number | null;
  organization: { id: number } | null;
  proposals: { organization: { id: number; name: string }; invoice_ids: number[]; because: string }[];
}

/** Sends a statement and waits until all of it was looked at. */
async function received(...entries: FileEntry[]): Promise<{ id: number; entries: Entry[] }> {
  const answer = await sendStatement(product.staff, camt(entries));
  expect(answer.status, JSON.stringify(answer.body)).toBe(200);
  const [{ id }] = answer.body.data.statements;
  return { id, entries: await entriesOf(id) };
}

async function entriesOf(id: number): Promise<Entry[]> {
  await settled(product);
  return (await product.staff.get(`/staff/bank-statements/${id}/entries`)).body.data.bank_entries;
}

const invoiceOf = async (person: Person, id: number) =>
  (await person.get(`/dashboard/invoices/${id}`)).body.data.invoice;
const creditOf = async (person: Person): Promise<string> =>
  (await person.get('/dashboard/invoices')).body.data.credit_balance;
const decide = (statement: number, entry: number, how: 'book' | 'dismiss', body: object) =>
  product.staff.post(`/staff/bank-statements/${statement}/entries/${entry}/${how}`, body);

/** `RF` with its check digits before an id (ISO 11649). */
function creditorReference(id: number): string {
  const check = 98n - (BigInt(`${id}271500`) % 97n);
  return `RF${String(check).padStart(2, '0')}${id}`;
}

describe('money that names its invoice', () => {
  it.each<[string, (id: number) => FileEntry]>([
    ['by its id', (id) => ({ text: `Invoice ${id}, thank you` })],
    ['by its id in groups', (id) => ({ text: `RE ${String(id).replace(/(\d{4})/g, '$1 ')}` })],
    ['by a creditor reference', (id) => ({ structured: creditorReference(id), text: 'x' })],
    [
      'by a creditor reference as it is printed',
      (id) => ({ text: `Ref. ${creditorReference(id).replace(/(.{4})/g, '$1 ')} of January` }),
    ],
  ])('pays it %s', async (_, entryFor) => {
    const person = await newCustomer(product);
    const id = await newInvoice(product, person);
    const { entries } = await received(entryFor(id));
    expect(entries).toMatchObject([
      { state: 'booked', outcome: `paid invoice ${id}`, organization: { id: person.organizationId } },
    ]);
    expect(await invoiceOf(person, id)).toMatchObject({
      status: 'paid',
      payments: [{ method: 'bank_transfer', amount: '3.00', received_on: '2026-01-31' }],
    });
  });

  it('shows where the account is that it came from, of consumers and of who pays no tax by the country they named', async () => {
    const [consumer, business, exempted] = await Promise.all(
      [1, 2, 3].map(() => newCustomer(product, { country: 'DE' })),
    );
    if (!consumer || !business || !exempted) throw new Error('nobody there');
    for (const each of [business, exempted])
      await each.patch('/dashboard/billing/profile', { consumer: false });
    const tax = `/staff/organizations/${exempted.organizationId}/tax`;
    expect((await product.staff.patch(tax, { exempt_reason: 'Embassy' })).status).toBe(200);
    for (const [person, evidence] of [
      [consumer, [{ kind: 'bank', country: 'FR' }]],
      [business, [{ kind: 'bank', country: 'FR' }]],
      [exempted, []],
    ] as const) {
      const id = await newInvoice(product, person);
      await received({ text: `${id}`, iban: 'FR1420041010050500013M02606' });
      const { invoice } = (await product.staff.get(`/staff/invoices/${id}`)).body.data;
      expect(invoice.status).toBe('paid');
      expect(invoice.tax_evidence).toMatchObject(evidence);
      expect(invoice.tax_evidence).toHaveLength(evidence.length);
    }
  });

  it('pays a part of it, says what is due, and with the rest of it becomes credit', async () => {
    const person = await newCustomer(product);
    const id = await newInvoice(product, person);
    const { entries } = await received(
      { amount: '1.00', text: `${id}` },
      { amount: '5.00', text: `the rest of ${id}` },
    );
    expect(entries.map(({ outcome }) => outcome)).toEqual([
      `paid 1.00 EUR towards invoice ${id}, of which 2.00 EUR are still due`,
      `paid invoice ${id}; 3.00 EUR more than was due became credit`,
    ]);
    expect(await invoiceOf(person, id)).toMatchObject({ status: 'paid', amount_due: '0.00' });
    expect(await creditOf(person)).toBe('3.00');
  });

  it('that is paid already or was cancelled becomes credit', async () => {
    const person = await newCustomer(product, { creditMinor: 300 });
    const [paid, cancelled] = [await newInvoice(product, person), await newInvoice(product, person)];
    await payByCredit(person, paid);
    await person.post(`/dashboard/invoices/${cancelled}/cancel`);
    const { entries } = await received({ text: `${paid}` }, { text: `${cancelled}` });
    expect(entries.map(({ state, outcome }) => [state, outcome])).toEqual([
      ['booked', '3.00 EUR more than was due became credit'],
      ['booked', `invoice ${cancelled} was cancelled, so its 3.00 EUR became credit`],
    ]);
    expect(await creditOf(person)).toBe('6.00');
  });

  it('of two organizations, of another currency, or that takes an entry back waits for staff', async () => {
    const [one, other] = [await newCustomer(product), await newCustomer(product)];
    const [first, second] = [await newInvoice(product, one), await newInvoice(product, other)];
    const { entries } = await received(
      { text: `${first} ${second}`, amount: '6.00' },
      { text: `${first}`, currency: 'USD' },
      { text: `${first}`, reversal: true },
    );
    expect(entries).toMatchObject([
      { state: 'proposed', outcome: 'It names invoices of several organizations' },
      { state: 'open', outcome: `It is in USD, and invoice ${first} in EUR` },
      { state: 'open', outcome: 'The bank takes back an earlier entry with it' },
    ]);
    const named = entries[0]?.proposals.flatMap(({ invoice_ids }) => invoice_ids);
    expect(new Set(named)).toEqual(new Set([first, second]));
    expect(await invoiceOf(one, first)).toMatchObject({ amount_paid: '0.00' });
  });

  it('and that staff has booked by hand already is not booked again', async () => {
    const person = await newCustomer(product);
    const [first, second] = [await newInvoice(product, person), await newInvoice(product, person)];
    const transfer = { amount: '3.00', reference: 'by hand', received_on: '2026-01-30' };
    await product.staff.post(`/staff/invoices/${first}/payments`, transfer);
    const { id, entries } = await received({ text: `${first}` });
    expect(entries).toMatchObject([{ state: 'proposed' }]);
    expect(entries[0]?.outcome).toMatch(/booked by hand as by hand/);
    expect(await creditOf(person)).toBe('0.00');
    expect((await decide(id, entries[0]?.id ?? 0, 'dismiss', { reason: 'the same' })).status).toBe(200);
    expect(await invoiceOf(person, second)).toMatchObject({ amount_paid: '0.00' });
  });

  it('is not booked again by hand under what staff calls it, unless it is another transfer', async () => {
    const person = await newCustomer(product);
    const id = await newInvoice(product, person);
    await received({ text: `${id}`, day: '2027-01-31' });
    expect(await invoiceOf(person, id)).toMatchObject({ status: 'paid' });
    const book = (more: object = {}) =>
      product.staff.post(`/staff/organizations/${person.organizationId}/transfers`, {
        ...{ amount: '3.00', currency: 'EUR', reference: `RE ${id}`, received_on: '2027-01-30', ...more },
      });
    const refused = await book();
    expect([refused.status, refused.body.code]).toEqual([409, 'conflict']);
    expect(refused.body.message).toContain('is_another');
    expect(await creditOf(person)).toBe('0.00');
    const second = await newInvoice(product, person);
    const byHand = { amount: '3.00', reference: `RE ${second}` };
    expect((await product.staff.post(`/staff/invoices/${second}/payments`, byHand)).status).toBe(409);
    expect((await book({ amount: '2.99' })).status).toBe(200);
    expect((await book({ is_another: true, reference: `RE ${id} again` })).status).toBe(200);
    expect(await invoiceOf(person, second)).toMatchObject({ status: 'paid' });
  });
});

describe('money that names nothing', () => {
  it('is proposed by amount and name, and booked when staff says so, once', async () => {
    const person = await newCustomer(product);
    await sql(
      product,
      `update organizations set name = 'Müller & Söhne GmbH' where id = $1`,
      person.organizationId,
    );
    const stranger = await newCustomer(product);
    await newInvoice(product, stranger, 7);
    const id = await newInvoice(product, person, 7);
    const iban = 'AT611904300234573201';
    const unclear = { amount: '21.00', name: 'MULLER SOHNE', text: 'Rechnung', iban };
    const statement = await received(unclear);
    const [entry] = statement.entries;
    expect(entry).toMatchObject({ state: 'proposed', outcome: 'It names no invoice' });
    expect(entry?.proposals).toMatchObject([
      { organization: { id: person.organizationId, name: 'Müller & Söhne GmbH' }, invoice_ids: [id] },
    ]);
    const { concerns } = (await product.staff.get('/staff/attention')).body.data;
    expect(concerns).toContainEqual(expect.objectContaining({ kind: 'payment.unclear' }));
    const answers = await Promise.all([1, 2, 3].map(() => decide(statement.id, entry?.id ?? 0, 'book', {})));
    expect(answers.map(({ status }) => status).sort()).toEqual([200, 409, 409]);
    expect(await invoiceOf(person, id)).toMatchObject({ status: 'paid' });
    expect(await entriesOf(statement.id)).toMatchObject([{ state: 'booked', outcome: `paid invoice ${id}` }]);
  });

  it('is proposed to whom its account belonged before', async () => {
    const person = await newCustomer(product);
    const iban = 'NL91ABNA0417164300';
    const id = await newInvoice(product, person);
    await received({ text: `${id}`, iban });
    const { entries } = await received({ amount: '17.35', text: 'top up', iban });
    expect(entries).toMatchObject([
      { state: 'proposed', proposals: [{ organization: { id: person.organizationId }, invoice_ids: [] }] },
    ]);
  });

  it('is open where there is no sign, and staff says whose it is', async () => {
    const person = await newCustomer(product);
    const id = await newInvoice(product, person);
    const statement = await received({
      amount: '99.13',
      name: 'Nobody Known',
      iban: 'FR7630006000011234567890189',
    });
    const [entry] = statement.entries;
    expect(entry).toMatchObject({ state: 'open', proposals: [] });
    const without = await decide(statement.id, entry?.id ?? 0, 'book', {});
    expect([without.status, without.body.code]).toEqual([400, 'invalid_request']);
    const nobody = await decide(statement.id, entry?.id ?? 0, 'book', { organization_id: 4_242 });
    expect(nobody.status).toBe(400);
    const body = { organization_id: person.organizationId, invoices: [{ invoice_id: id }] };
    const booked = await decide(statement.id, entry?.id ?? 0, 'book', body);
    expect(booked.body.data.entry).toMatchObject({ state: 'booked' });
    expect(await creditOf(person)).toBe('96.13');
  });
});

describe('a statement', () => {
  it('twice, at once and in another file has no second effect', async () => {
    const person = await newCustomer(product);
    const ids = [await newInvoice(product, person), await newInvoice(product, person)];
    const entries = ids.map((id) => ({ text: `${id}`, reference: `KEEP-${id}` }));
    const file = camt(entries, { name: 'TWICE' });
    const answers = await Promise.all([1, 2, 3].map(() => sendStatement(product.staff, file)));
    const statements = answers.map(({ body }) => body.data.statements[0].id);
    expect(new Set(statements).size).toBe(1);
    await settled(product);
    const before = await contents(product);
    expect((await sendStatement(product.staff, file)).body.data.statements).toMatchObject([
      { id: statements[0], entries: { booked: 2, waiting: 0, known: 0 } },
    ]);
    expect(await contents(product)).toEqual(before);

    const late = await newInvoice(product, person);
    const overlapping = camt([...entries, { text: `${late}` }], { name: 'OVERLAPS' });
    const [second] = (await sendStatement(product.staff, overlapping)).body.data.statements;
    expect((await entriesOf(second.id)).map(({ state }) => state)).toEqual(['booked']);
    const summary = (await product.staff.get(`/staff/bank-statements/${second.id}`)).body.data.statement;
    expect(summary.entries).toMatchObject({ booked: 1, known: 2 });
    expect(await creditOf(person)).toBe('0.00');
  });

  it('counts entries that are alike, and leaves out what is not booked and what went out', async () => {
    const person = await newCustomer(product);
    const id = await newInvoice(product, person);
    const same = { text: `${id}`, reference: null };
    const { entries } = await received(
      ...[same, same],
      { text: `${id}`, status: 'PDNG' },
      { out: true, amount: '12.00' },
    );
    expect(entries.map(({ state }) => state)).toEqual(['booked', 'booked', 'outgoing']);
    expect(await creditOf(person)).toBe('3.00');
  });

  it('of a bank that only numbers the entries of each file is booked in each of them', async () => {
    const person = await newCustomer(product);
    for (const day of ['2026-01-30', '2026-01-31']) {
      const id = await newInvoice(product, person);
      const file = camt([{ text: `${id}`, reference: '1', day }]).replaceAll('AcctSvcrRef', 'NtryRef');
      const answer = await sendStatement(product.staff, file);
      const entries = await entriesOf(answer.body.data.statements[0].id);
      expect(entries).toMatchObject([{ state: 'booked', outcome: `paid invoice ${id}` }]);
    }
  });

  it('of the version before is read the same', async () => {
    const person = await newCustomer(product);
    const id = await newInvoice(product, person);
    const answer = await sendStatement(product.staff, camt([{ text: `${id}` }], { version: '02' }));
    expect(await entriesOf(answer.body.data.statements[0].id)).toMatchObject([{ state: 'booked' }]);
  });
});

describe('what is no statement is refused, and nothing is written', () => {
  const good = camt([{ text: 'x' }]);
  const bomb = `<!DOCTYPE lolz [<!ENTITY lol "lol"><!ENTITY lol2 "&lol;&lol;&lol;">]>`;
  const named = (name: string, times: number, inside: string) =>
    good.replace(
      '</Stmt>',
      () => `${`<${name}>`.repeat(times)}${inside}${`</${name}>`.repeat(times)}</Stmt>`,
    );
  const cases: [string, string, RegExp][] = [
    ['a document type', good.replace('?>', `?>${bomb}`), /document type/],
    ['an entity of its own', good.replace('>x<', '>&lol;<'), /line \d+/],
    ['an odd encoding', good.replace('UTF-8', 'UTF-7'), /encoding is UTF-7/],
    ['another message', good.replaceAll('camt.053.001.08', 'camt.054.001.08'), /is a camt\.054\.001\.08/],
    ['something else', '<html><body>hello</body></html>', /something else/],
    ['half a file', good.slice(0, good.length / 2), /line \d+/],
    ['no XML', 'amount;name\n3.00;Ada', /line \d+/],
    ['an amount that is none', good.replace('>3.00<', '>3.001<'), /no amount of EUR/],
    ['an amount with two points', good.replace('>3.00<', '>3.0.9<'), /no amount of EUR/],
    ['a negative amount', good.replace('>3.00<', '>-3.00<'), /no amount of EUR/],
    ['no day', good.replace('2026-01-31', '2026-02-31'), /no day/],
    ['elements without end', `${good.slice(0, good.indexOf('<Stmt>'))}${'<a>'.repeat(100_000)}`, /too deep/],
    // Each name is short enough for a parser; looked at with all that are around it, these took hours.
    ['names without end', named('n'.repeat(60_000), 30, '<b/>'.repeat(2_000_000)), /a name of no statement/],
    ['no account', good.replace(/<Acct>.*?<\/Acct>/s, ''), /which account/],
  ];
  it.each(cases)('%s', async (_, file, words) => {
    const before = await settledContents(product);
    const answer = await sendStatement(product.staff, file);
    expect([answer.status, answer.body.code]).toEqual([400, 'invalid_statement']);
    expect(answer.body.message).toMatch(words);
    expect(await contents(product)).toEqual(before);
  });

  it('bytes that are no UTF-8', async () => {
    const bytes = Buffer.from(camt([{ text: 'Müller' }]), 'latin1');
    const answer = await fetch(`${product.url}/api/staff/bank-statements`, {
      method: 'POST',
      headers: { token: product.demo.staff.api_key, 'content-type': 'application/xml' },
      body: bytes,
    });
    expect(answer.status).toBe(400);
    expect(((await answer.json()) as { message: string }).message).toMatch(/no UTF-8/);
  });

  it('100,000 entries and huge texts, in seconds, while others are served', async () => {
    const entry =
      '<Ntry><Amt Ccy="EUR">1</Amt><CdtDbtInd>CRDT</CdtDbtInd><Sts>BOOK</Sts><BookgDt><Dt>2026-01-01</Dt></BookgDt></Ntry>';
    const many = camt([]).replace('</Stmt>', `${entry.repeat(100_000)}</Stmt>`);
    const [answer] = await whileOthersRead(sendStatement(product.staff, many));
    expect([answer.status, answer.body.code]).toEqual([400, 'invalid_statement']);
    expect(answer.body.message).toMatch(/more than 20000 entries/);
    const huge = camt([{ text: 'y'.repeat(12_000_000) }]);
    const [accepted] = await whileOthersRead(sendStatement(product.staff, huge));
    expect(accepted.status).toBe(200);
    const [kept] = await entriesOf(accepted.body.data.statements[0].id);
    expect(JSON.stringify(kept).length).toBeLessThan(5_000);
    const tooLarge = await sendStatement(product.staff, `${good}${' '.repeat(17_000_000)}`);
    expect(tooLarge.status).toBe(413);
  }, 60_000);

  /** Others are answered before it is done. */
  async function whileOthersRead(sent: Promise<Response>): Promise<[Response]> {
    let isDone = false;
    const done = sent.finally(() => {
      isDone = true;
    });
    let answered = 0;
    while (!isDone) {
      await product.nobody.get('/products');
      if (!isDone) answered += 1;
    }
    expect(answered).toBeGreaterThan(2);
    return [await done];
  }
});

describe('a statement', () => {
  it('of an account that is none of the company’s is refused, and says what to do', async () => {
    const ours = (iban: string | null, bank_accounts: string[] = []) =>
      product.staff.patch('/staff/settings', { company: { iban }, bookkeeping: { bank_accounts } });
    expect((await ours('NL91ABNA0417164300')).status).toBe(200);
    try {
      await settled(product);
      const before = await contents(product);
      const answer = await sendStatement(product.staff, camt([{ text: 'x' }]));
      expect([answer.status, answer.body.code]).toEqual([400, 'invalid_statement']);
      expect(answer.body.message).toContain('DE02120300000000202051');
      expect(answer.body.message).toContain('bank_accounts');
      expect(await contents(product)).toEqual(before);
      await ours('NL91ABNA0417164300', ['DE02120300000000202051']);
      expect((await sendStatement(product.staff, camt([{ text: 'y' }]))).status).toBe(200);
    } finally {
      await ours(null);
      await settled(product);
    }
  });

  it('that overlaps with another, of a bank that gives no references, books what both have once', async () => {
    const person = await newCustomer(product);
    const id = await newInvoice(product, person);
    const counted = (number: number) => {
      const file = camt([{ text: `${id}`, reference: null }]);
      return file.replace('<BookgDt>', `<NtryRef>${number}</NtryRef><BookgDt>`);
    };
    const send = async (file: string) => {
      const { data } = (await sendStatement(product.staff, file)).body;
      return (await entriesOf(data.statements[0].id))[0];
    };
    expect(await send(counted(7))).toMatchObject({ state: 'booked' });
    product.clock.travel(1_000);
    const again = await send(counted(1));
    expect(again).toMatchObject({ state: 'proposed', proposals: [{ invoice_ids: [id] }] });
    expect(again?.outcome).toContain('is it the same?');
    expect(await creditOf(person)).toBe('0.00');
  });
});

describe('a transfer that was booked by mistake', () => {
  const takeBack = (id: number) =>
    product.staff.post(`/staff/transfers/${id}/take-back`, { reason: 'of another' });
  async function transfersOf(person: Person) {
    const path = `/staff/transfers?organization_id=${person.organizationId}`;
    return (await product.staff.get(path)).body.data.transfers;
  }

  it('is found, taken back whole, and can be booked for whom it was', async () => {
    const [wrong, right] = [await newCustomer(product), await newCustomer(product)];
    const [paid, part] = [await newInvoice(product, wrong), await newInvoice(product, wrong)];
    const statement = await received({ amount: '5.00', text: `${paid} ${part}`, reference: 'MISTAKE' });
    const [transfer] = await transfersOf(wrong);
    expect(transfer).toMatchObject({ amount: '5.00', taken_back_at: null });
    expect(transfer.invoices).toEqual([
      { invoice_id: paid, amount: '3.00' },
      { invoice_id: part, amount: '2.00' },
    ]);
    const found = await product.staff.get('/staff/transfers?search=mist');
    expect(found.body.data.transfers).toMatchObject([{ id: transfer.id }]);

    const answer = await takeBack(transfer.id);
    expect(answer.status, JSON.stringify(answer.body)).toBe(200);
    expect(answer.body.data.transfer).toMatchObject({ taken_back_reason: 'of another' });
    expect(await invoiceOf(wrong, paid)).toMatchObject({ status: 'refunded', refunded: '3.00' });
    expect(await invoiceOf(wrong, part)).toMatchObject({
      status: 'unpaid',
      amount_paid: '0.00',
      amount_due: '3.00',
    });
    expect(await creditOf(wrong)).toBe('0.00');
    expect((await takeBack(transfer.id)).status).toBe(409);

    const [entry] = await entriesOf(statement.id);
    expect(entry).toMatchObject({ state: 'open', transfer_id: null });
    const body = { organization_id: right.organizationId };
    expect((await decide(statement.id, entry?.id ?? 0, 'book', body)).status).toBe(200);
    expect(await creditOf(right)).toBe('5.00');
    await settled(product);
    expect(await audit(product.databaseUrl)).toEqual([]);
  });

  it('gives up what became credit, unless it was spent', async () => {
    const person = await newCustomer(product);
    await received({ amount: '3.00', text: `${await newInvoice(product, person)}` });
    const late = await newInvoice(product, person);
    const other = await newInvoice(product, person);
    await received({ amount: '7.00', text: `${late}`, reference: 'MORE' });
    const transfer = (await transfersOf(person)).find(
      (each: { reference: string }) => each.reference === 'MORE',
    );
    await payByCredit(person, other);
    await settled(product);
    const before = await contents(product);
    const refused = await takeBack(transfer.id);
    expect([refused.status, refused.body.code]).toEqual([409, 'conflict']);
    expect(refused.body.message).toMatch(/4\.00 EUR of this transfer became credit/);
    await settled(product);
    expect(await contents(product)).toEqual(before);
    await product.staff.post(`/staff/organizations/${person.organizationId}/credit`, {
      ...{ amount: '3.00', currency: 'EUR', description: 'A gift' },
    });
    expect((await takeBack(transfer.id)).status).toBe(200);
    expect(await creditOf(person)).toBe('0.00');
    expect(await invoiceOf(person, late)).toMatchObject({ status: 'refunded' });
  });

  it('that paid a part of what is paid undoes all of it, and what else paid becomes credit', async () => {
    const person = await newCustomer(product, { creditMinor: 200 });
    const id = await newInvoice(product, person);
    await received({ amount: '1.00', text: `${id}`, reference: 'SOME' });
    await payByCredit(person, id);
    const transfer = (await transfersOf(person)).find(
      (each: { reference: string }) => each.reference === 'SOME',
    );
    expect((await takeBack(transfer.id)).status).toBe(200);
    expect(await invoiceOf(person, id)).toMatchObject({ status: 'refunded', refunded: '3.00' });
    expect(await creditOf(person)).toBe('2.00');
  });

  it('that there is not is not found', async () => {
    expect((await takeBack(4_242)).status).toBe(404);
  });
});

describe('a change', () =>
  changes.leaveEntries(() => product, ['receiveBankStatement', 'bookBankEntry', 'dismissBankEntry']));
