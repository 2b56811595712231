import type { Client, Response } from '../client.ts';
import { vpsOptions } from '../orders.ts';
import { dayAfter, type Had, minorOf } from './books.ts';
import type { Chance } from './chance.ts';
import { type Company, tokenOf } from './company.ts';
import type { World } from './world.ts';

type Way = 'saved' | 'page' | 'transfer' | 'credit';

/** How somebody is with money and machines. */
interface Habits {
  way: Way;
  /** Days from the invoice to its payment; from the day on which it is due where it is late. */
  days: number;
  isLate: boolean;
  /** How often a payment is forgotten altogether. */
  forgets: number;
}

interface Bill {
  id: number;
  kind: string;
  dueMinor: number;
  duedate: string;
  payOn: string;
  /** The way that was tried and did not do. */
  tried: number;
}

interface Guest {
  email: string;
  client: Client;
  userId: number;
  leavesOn: string;
}

/** Somebody who buys: a small machine of habits, which acts by what its mails say and by what comes to its mind. */
export class Customer {
  readonly world: World;
  readonly nth: number;
  readonly chance: Chance;
  readonly habits: Habits;
  readonly email: string;
  readonly password: string;
  readonly country: string;
  client!: Client;
  /** What its programs send with each request. */
  headers: Record<string, string> = {};
  organizationId = 0;
  userId = 0;
  joinsOn: string;
  had: Had[] = [];
  bills = new Map<number, Bill>();
  #methods: { id: number; number: string }[] = [];
  #wants: number;
  #guest: Guest | null = null;
  isGone = false;

  constructor(world: World, nth: number, joinsOn: string) {
    this.world = world;
    this.nth = nth;
    this.joinsOn = joinsOn;
    const chance = world.chance.another(nth);
    this.chance = chance;
    this.email = `person${nth}@customer${nth}.example`;
    this.password = `seven ${chance.of('otters', 'herons', 'badgers')} read ${nth} maps`;
    this.country = chance.of('CZ', 'CZ', 'DE', 'US');
    this.habits = {
      way: chance.of<Way>('saved', 'saved', 'page', 'transfer', 'credit'),
      days: chance.of(0, 0, 1, 2, 5),
      isLate: chance.is(0.2),
      forgets: chance.of(0, 0, 0.03, 0.1, 0.3),
    };
    this.#wants = chance.of(1, 1, 1, 2, 3);
  }

  get company(): Company {
    return this.world.company;
  }

  get isHere(): boolean {
    return this.organizationId !== 0 && !this.isGone;
  }

  /** Once on each day, in the morning. */
  async day(): Promise<void> {
    if (this.isGone || this.world.today < this.joinsOn) return;
    if (this.organizationId === 0) await this.#join();
    await this.#readMails();
    await this.#payWhatIsDue();
    await this.#live();
  }

  async #join(): Promise<void> {
    const { world, email, password, country } = this;
    const nobody = this.company.client('');
    const body = { email, password, first_name: `Person${this.nth}`, last_name: 'Novak', country };
    const organization_name = `Customer ${this.nth}`;
    world.diary.took('registers', await nobody.post('/auth/register', { ...body, organization_name }));
    const token = await this.#token('verify-email');
    world.diary.took('verifies', await nobody.post('/auth/email/verify', { token }));
    const session = await this.#signIn();
    const { organizations } = (await session.get('/dashboard/organizations')).body.data;
    this.organizationId = organizations[0].id;
    const here = { 'x-organization-id': String(this.organizationId) };
    const key = { name: 'mine', billing: true, vps: true };
    const made = await session.post('/dashboard/account/api-keys', key, here);
    world.diary.took('makes a key', made);
    this.client = this.company.client(made.body.data.token, this.organizationId);
    this.headers = { token: made.body.data.token, ...here };
    const profile = { address_line1: `Lane ${this.nth}`, postal_code: '11000', city: 'Praha' };
    world.diary.took('profile', await this.client.patch('/dashboard/billing/profile', profile));
    if (this.habits.way === 'saved') await this.#saveCard('4242424242424242');
    if (this.nth % 4 === 0) await this.#listen();
  }

  /** The link of a mail that is on its way. */
  async #token(page: string, address = this.email): Promise<string> {
    for (let tries = 0; tries < 2_000; tries += 1) {
      for (const letter of this.company.post.take(address)) {
        const token = letter.tokens[page];
        if (token !== undefined) return token;
      }
      await new Promise((resolve) => setTimeout(resolve, 25));
    }
    throw new Error(`no mail with a link to ${page} came for ${address}`);
  }

  async #signIn(): Promise<Client> {
    const { email, password } = this;
    const answer = await this.company.client('').post('/auth/login', { email, password });
    this.world.diary.took('signs in', answer);
    this.userId = answer.body.data.user.id;
    return this.company.client(tokenOf(answer), this.organizationId || undefined);
  }

  async #saveCard(number: string): Promise<void> {
    const answer = await this.client.post('/dashboard/payment-methods');
    if (!this.world.diary.took('saves a card', answer)) return;
    await this.company.fillIn(answer.body.data.redirect_url, { number });
    const list = async () => (await this.client.get('/dashboard/payment-methods')).body.data.payment_methods;
    const known = new Set(this.#methods.map(({ id }) => id));
    for (let tries = 0; tries < 2_000; tries += 1) {
      const fresh = (await list()).find(({ id }: { id: number }) => !known.has(id));
      if (fresh !== undefined) {
        this.#methods.push({ id: fresh.id, number });
        await this.client.patch(`/dashboard/payment-methods/${fresh.id}`, { is_default: true });
        return;
      }
      await new Promise((resolve) => setTimeout(resolve, 25));
    }
    throw new Error('a card that was saved is not in the list');
  }

  async #listen(): Promise<void> {
    const body = { url: this.world.hooks.urlFor(this.organizationId), description: 'books' };
    this.world.diary.took('listens', await this.client.post('/dashboard/webhooks', body));
  }

  async #readMails(): Promise<void> {
    if (this.company.post.take(this.email).length === 0) return;
    const { body } = await this.client.get('/dashboard/invoices?status=unpaid&limit=100');
    const unpaid = new Set<number>();
    for (const invoice of body.data.invoices) {
      unpaid.add(invoice.id);
      const known = this.bills.get(invoice.id);
      const dueMinor = minorOf(invoice.amount_due);
      if (known) known.dueMinor = dueMinor;
      else this.bills.set(invoice.id, { ...this.#plan(invoice), dueMinor, tried: 0 });
    }
    for (const id of this.bills.keys()) if (!unpaid.has(id)) this.bills.delete(id);
  }

  #plan({
    id,
    kind,
    duedate,
  }: {
    id: number;
    kind: string;
    duedate: string;
  }): Omit<Bill, 'dueMinor' | 'tried'> {
    const { chance, habits } = this;
    const bill = { id, kind, duedate };
    // A saved card is charged by itself.
    if (habits.way === 'saved' && kind === 'renewal') return { ...bill, payOn: dayAfter(duedate, 20) };
    if (chance.is(habits.forgets)) {
      this.world.diary.count('forgets to pay');
      return { ...bill, payOn: dayAfter(duedate, chance.of(5, 20, 30, 400)) };
    }
    if (kind !== 'order' && habits.isLate) return { ...bill, payOn: dayAfter(duedate, 1 + habits.days) };
    return { ...bill, payOn: dayAfter(this.world.today, Math.min(habits.days, kind === 'order' ? 1 : 5)) };
  }

  async #payWhatIsDue(): Promise<void> {
    for (const bill of [...this.bills.values()]) {
      if (bill.payOn > this.world.today) continue;
      await this.#pay(bill);
    }
  }

  async #pay(bill: Bill): Promise<void> {
    bill.tried += 1;
    bill.payOn = dayAfter(this.world.today, 4);
    const way = bill.tried > 2 ? 'page' : this.habits.way;
    const gone = ['invoice_not_payable'];
    const path = `/dashboard/invoices/${bill.id}/pay`;
    const { diary } = this.world;
    if (way === 'transfer') {
      const { invoice } = (await this.client.get(`/dashboard/invoices/${bill.id}`)).body.data;
      if (invoice.status !== 'unpaid') return;
      this.world.bank.send(
        this.organizationId,
        invoice.payment_reference,
        bill.id,
        this.#amount(bill.dueMinor),
      );
      return;
    }
    const method = this.#methods.at(-1);
    if (way === 'saved' && method !== undefined) {
      const body = { method: 'card', payment_method_id: method.id };
      diary.took('pays by saved card', await this.client.post(path, body), [...gone, 'payment_too_small']);
      return;
    }
    if (way === 'credit') {
      if (
        diary.took('pays by credit', await this.client.post(path, { method: 'credit' }), [
          ...gone,
          'insufficient_credit',
        ])
      )
        return;
      await this.#topUp();
      bill.payOn = dayAfter(this.world.today, 1);
      return;
    }
    const answer = await this.client.post(path, { method: 'card', use_credit: true });
    if (diary.took('pays on a page', answer, gone)) await this.#fillIn(answer);
  }

  /** By card, whatever its habits are: all that is due and known. */
  async payByPage(): Promise<void> {
    if (!this.isHere || !this.chance.is(0.3)) return;
    for (const bill of this.bills.values()) {
      const answer = await this.client.post(`/dashboard/invoices/${bill.id}/pay`, { method: 'card' });
      if (this.world.diary.took('pays in the last evening', answer, ['invoice_not_payable']))
        await this.#fillIn(answer);
    }
  }

  async #topUp(): Promise<void> {
    const answer = await this.client.post('/dashboard/credit/top-up', { amount: '50.00' });
    if (!this.world.diary.took('tops up', answer)) return;
    const paid = await this.client.post(`/dashboard/invoices/${answer.body.data.invoice_id}/pay`, {
      method: 'card',
    });
    if (this.world.diary.took('pays a top-up', paid)) await this.#fillIn(paid);
  }

  /** Some people type a card that is declined, and try another. */
  async #fillIn({ body }: Response): Promise<void> {
    const link = body.data.redirect_url;
    if (link === null) return;
    if (this.chance.is(0.05)) {
      this.world.diary.count('a card is declined on the page');
      await this.company.fillIn(link, { number: '4000000000000002' });
    }
    if (this.chance.is(0.03)) {
      this.world.diary.count('leaves the page');
      return;
    }
    await this.company.fillIn(link, { number: '5555555555554444' });
  }

  /** Most people transfer what is asked; some too much, some too little. */
  #amount(dueMinor: number): number {
    if (this.chance.is(0.05)) return dueMinor + 500;
    if (this.chance.is(0.05) && dueMinor > 300) return dueMinor - 150;
    return dueMinor;
  }

  async #live(): Promise<void> {
    const { chance } = this;
    if (this.had.length < this.#wants && chance.is(0.5)) await this.#order();
    if (chance.is(0.004)) this.#wants += 1;
    if (chance.is(0.006)) await this.#upgrade();
    if (chance.is(0.01)) await this.#power();
    if (chance.is(0.002)) await this.#leaveOne();
    if (chance.is(0.004)) await this.#ask();
    if (chance.is(0.002) && this.habits.way === 'saved') await this.#changeCard();
    await this.#company();
  }

  async #order(): Promise<void> {
    const { chance, world } = this;
    const product = chance.of('vps', 'vps', 'vps', 'hosting', 'hosting', 'domain', 'dedicated');
    const cycle = product === 'domain' ? 'annually' : chance.of('monthly', 'monthly', 'monthly', 'quarterly');
    const couponcode = chance.is(0.15) ? world.goods.coupon : undefined;
    const name = `h${this.had.length}-${this.nth}-${chance.whole(0, 99_999)}.example`;
    const cart = {
      products: [{ id: world.goods.ids[product], cycle, ...wish(product, name) }],
      ...(couponcode && { couponcode }),
    };
    const quote = await this.client.post('/cart/quote', cart);
    const mayBe = ['insufficient_stock', 'product_not_orderable', 'invalid_coupon', 'too_many'];
    if (!world.diary.took('asks for a price', quote, mayBe)) return;
    const answer = await this.client.post('/cart/checkout/invoice', cart);
    if (!world.diary.took(`orders ${product}`, answer, mayBe)) return;
    const { invoice_id, service_ids, items } = answer.body.data;
    if (answer.body.data.total !== quote.body.data.total)
      world.diary.surprises.push('another price than was quoted');
    this.had.push({
      ...{ id: service_ids[0], product, invoiceId: invoice_id, isLeft: false, isOff: false },
      cycleMonths: { monthly: 1, quarterly: 3, annually: 12 }[cycle] ?? 1,
      prices: [{ minor: minorOf(items[0].price), from: world.today }],
    });
  }

  #one(product?: string): Had | undefined {
    const these = this.had.filter((had) => !had.isLeft && (product === undefined || had.product === product));
    return these.length === 0 ? undefined : this.chance.of(...these);
  }

  async #upgrade(): Promise<void> {
    const had = this.#one();
    if (had === undefined) return;
    const mayBe = ['conflict', 'invalid_configuration', 'insufficient_stock'];
    const { diary, goods } = this.world;
    if (had.product === 'vps') {
      const body = { option1: this.chance.of(2, 4), option3: 2 };
      diary.took(
        'upgrades a machine',
        await this.client.post(`/dashboard/services/${had.id}/upgrade-vps`, body),
        mayBe,
      );
    }
    if (had.product === 'hosting') {
      const body = { product_id: goods.ids.large };
      diary.took(
        'upgrades hosting',
        await this.client.post(`/dashboard/services/${had.id}/upgrade`, body),
        mayBe,
      );
    }
  }

  async #power(): Promise<void> {
    const had = this.#one('vps');
    if (had === undefined) return;
    const verb = had.isOff ? 'start' : this.chance.of('stop', 'restart', 'snapshots');
    const body = verb === 'snapshots' ? { name: `s${this.chance.whole(1, 99_999)}` } : {};
    const answer = await this.client.post(`/dashboard/service/${had.id}/vps/${verb}`, body);
    // Whoever has not looked does so with one that has ended, is suspended, is not there yet, or at something else.
    const mayBe = ['conflict', 'action_not_allowed', 'locked'];
    if (!this.world.diary.took(`machine ${verb}`, answer, mayBe)) return;
    if (verb === 'stop' || verb === 'start') had.isOff = verb === 'stop';
  }

  async #leaveOne(): Promise<void> {
    const had = this.#one();
    if (had === undefined) return;
    const body = { type: this.chance.of('immediate', 'end_of_period'), reason: 'We move elsewhere' };
    const answer = await this.client.post(`/dashboard/services/${had.id}/cancel`, body);
    if (this.world.diary.took(`cancels ${body.type}`, answer, ['conflict'])) {
      had.isLeft = true;
      const toCard = minorOf(answer.body.data.refund.original);
      this.world.books
        .of(this.organizationId)
        .refunds.push({ invoiceId: had.invoiceId, minor: toCard, toCredit: 0, toCard });
    }
  }

  async #ask(): Promise<void> {
    const body = {
      subject: 'It is slow',
      department: 'support',
      priority: 'medium',
      message: 'Why is it slow?',
    };
    this.world.diary.took('asks in a ticket', await this.client.post('/dashboard/tickets/create', body));
  }

  /** The bank sends a new card, or the old one is declined from now on. */
  async #changeCard(): Promise<void> {
    await this.#saveCard(this.chance.of('4242424242424242', '5555555555554444', '4000000000000341'));
  }

  /** A colleague comes, looks around, and leaves. */
  async #company(): Promise<void> {
    const at = `/dashboard/organizations/${this.organizationId}`;
    const { diary, today } = this.world;
    if (this.#guest === null && this.chance.is(0.002)) {
      const email = `guest${this.chance.whole(1, 1_000_000)}@customer${this.nth}.example`;
      const body = { email, role: this.chance.of('viewer', 'technical', 'billing', 'support', 'admin') };
      if (!diary.took('invites', await this.client.post(`${at}/invitations`, body))) return;
      const token = await this.#token('invitation', email);
      const nobody = this.company.client('');
      const password = `${this.password} too`;
      const person = { email, password, first_name: 'Guest', last_name: 'Okoye' };
      diary.took('a guest registers', await nobody.post('/auth/register', person));
      diary.took(
        'a guest verifies',
        await nobody.post('/auth/email/verify', { token: await this.#token('verify-email', email) }),
      );
      const answer = await nobody.post('/auth/login', { email, password });
      const session = this.company.client(tokenOf(answer));
      const { organizations } = (await session.get('/dashboard/organizations')).body.data;
      const own = { 'x-organization-id': String(organizations[0].id) };
      diary.took('a guest comes', await session.post('/dashboard/invitations/accept', { token }, own));
      const client = this.company.client(tokenOf(answer), this.organizationId);
      const userId = answer.body.data.user.id;
      this.#guest = { email, client, userId, leavesOn: dayAfter(today, this.chance.whole(1, 60)) };
    }
    const guest = this.#guest;
    if (guest === null || guest.leavesOn > today) return;
    diary.took('a guest leaves', await this.client.delete(`${at}/members/${guest.userId}`));
    const shut = await guest.client.get('/dashboard/services');
    if (shut.status === 200)
      diary.surprises.push(`who left still reads the services of ${this.organizationId}`);
    this.#guest = null;
  }
}

/** What is asked of a product, in a cart. */
function wish(product: string, domain: string): object {
  if (product === 'vps')
    return { type: 'Hosting', options: vpsOptions({ domain, password: 'Correct-Horse-7' }) };
  if (product === 'domain') return { type: 'Domain', domain };
  if (product === 'dedicated')
    return { type: 'Hosting', options: { option1: 64, option2: 960, domain, password: 'Correct-Horse-7' } };
  return { type: 'Hosting' };
}
