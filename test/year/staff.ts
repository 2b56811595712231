import { Secret, TOTP } from 'otpauth';
import type { Client } from '../client.ts';
import { minorOf, textOf } from './books.ts';
import type { Chance } from './chance.ts';
import { tokenOf } from './company.ts';
import type { World } from './world.ts';

export const roles = ['administrator', 'billing', 'support', 'operator'] as const;
type Role = (typeof roles)[number];

interface Concern {
  kind: string;
  subject: { type: string; id: number };
  organization_id: number | null;
  message: string;
}

/** The company's people: what they do each day, and where they err and put it right. */
export class Staff {
  readonly world: World;
  readonly chance: Chance;
  #as = {} as Record<Role, Client>;
  #isWithdrawn = false;
  /** Concerns that nobody could do anything about, by kind. */
  readonly left = new Map<string, string>();

  constructor(world: World) {
    this.world = world;
    this.chance = world.chance.another(1_000_003);
  }

  /** The console gives each role its person, and with it a key. */
  async hire(): Promise<void> {
    for (const role of roles) {
      const { company } = this.world;
      const args = ['--email', `${role}@example.com`, '--name', `Sam ${role}`, '--role', role];
      const said = await company.command('add-staff', ...args);
      this.#as[role] = company.client(/^\s+(ink_\S+)$/m.exec(said)?.[1] ?? '');
    }
  }

  as(role: Role): Client {
    return this.#as[role];
  }

  /** What the founder sets up before the first customer comes. */
  async found(): Promise<void> {
    const { diary, goods, company } = this.world;
    const admin = this.as('administrator');
    const billing = this.as('billing');
    for (const [country, rate] of [
      ['CZ', '21.00'],
      ['DE', '19.00'],
    ])
      diary.took(
        'a tax rate',
        await billing.post('/staff/tax/rates', { country, rate, valid_from: '2000-01-01' }),
      );
    const settings = {
      tax: { one_stop_shop: true },
      calendar: {
        ...{ late_fee_days_after: 10, late_fee_percent: 5 },
        late_fee_amounts: [{ currency: 'EUR', amount: '2.00' }],
      },
      cancellation: { refund: 'unused' },
    };
    diary.took('the settings', await admin.patch('/staff/settings', settings));
    Object.assign(goods.ids, company.demo.products);
    const { product } = (await admin.get(`/staff/products/${goods.ids.hosting}`)).body.data;
    const large = {
      ...{
        type: 'Hosting',
        moduleId: 3,
        group_id: product.group.id,
        name: 'Web hosting, large',
        currency: 'EUR',
      },
      description: 'More space.',
      prices: [
        { cycle: 'monthly', price: '7.00' },
        { cycle: 'quarterly', price: '21.00' },
      ],
    };
    const made = await admin.post('/staff/products', large);
    diary.took('a product', made);
    goods.ids.large = made.body.data.product.id;
    const coupon = { code: goods.coupon, percent: 20, recurring: true };
    diary.took('a coupon', await billing.post('/staff/coupons', coupon));
  }

  /** Once on each day, when customers have had theirs. */
  async day(): Promise<void> {
    await this.#bookTransfers();
    await this.seeToConcerns();
    await this.#answerTickets();
    await this.#err();
  }

  async #bookTransfers(): Promise<void> {
    const { bank, books, diary, today } = this.world;
    for (const { organizationId, minor, reference, invoiceId } of bank.fresh()) {
      const body = {
        ...{ amount: textOf(minor), currency: 'EUR', reference, received_on: today },
        invoices: [{ invoice_id: invoiceId }],
      };
      const at = `/staff/organizations/${organizationId}/transfers`;
      let answer = await this.as('billing').post(at, body);
      // What was paid in another way meanwhile is for whatever else is due, or credit.
      if (answer.status !== 200) answer = await this.as('billing').post(at, { ...body, invoices: undefined });
      if (!diary.took('books a transfer', answer)) continue;
      const { id } = answer.body.data.transfer;
      books.of(organizationId).transfers.push({ id, reference, minor, isTakenBack: false });
    }
  }

  /** What needs a person is done, as far as a person can; the rest is what is left. */
  async seeToConcerns(): Promise<void> {
    const { concerns } = (await this.as('operator').get('/staff/attention')).body.data as {
      concerns: Concern[];
    };
    this.left.clear();
    for (const concern of concerns)
      if (!(await this.#seeTo(concern))) this.left.set(concern.kind, concern.message);
  }

  async #seeTo({ kind, subject: { id }, message }: Concern): Promise<boolean> {
    const { diary } = this.world;
    if (kind === 'delivery.byHand')
      return diary.took('delivers by hand', await this.as('operator').post(`/staff/services/${id}/deliver`), [
        'conflict',
      ]);
    if (kind === 'service.byHand') {
      const task = /waits for you to (\w+) it by hand/.exec(message)?.[1];
      return diary.took(
        `does by hand: ${task}`,
        await this.as('operator').post(`/staff/services/${id}/done`, { task }),
      );
    }
    // Once the provider was compared; until then it is said what is waited for.
    if (kind === 'restore.held')
      return diary.took(
        'releases a restore',
        await this.as('billing').post(`/staff/restores/${id}/release`, {}),
        ['conflict'],
      );
    if (kind === 'ticket.overdue') return true;
    return false;
  }

  async #answerTickets(): Promise<void> {
    const { tickets } = (await this.as('support').get('/staff/tickets?limit=50')).body.data;
    for (const { tid, status } of tickets) {
      if (status === 'answered') continue;
      const { ticket } = (await this.as('support').get(`/staff/tickets/${tid}`)).body.data;
      const body = { message: 'It is mended.', last_reply_id: ticket.messages.at(-1).id };
      this.world.diary.took(
        'answers a ticket',
        await this.as('support').post(`/staff/tickets/${tid}/replies`, body),
        ['conflict'],
      );
    }
  }

  /** People err, and put it right. */
  async #err(): Promise<void> {
    const { chance } = this;
    if (chance.is(0.03)) await this.#refundTwice();
    if (chance.is(0.03)) await this.#creditToTheWrong();
    if (chance.is(0.02)) await this.#wrongTransfer();
    if (chance.is(0.02)) await this.#wrongPrice();
    if (chance.is(0.02)) await this.#withdraw();
    if (chance.is(0.02)) await this.#tooGreatACoupon();
    if (chance.is(0.03)) await this.#lookAsCustomer();
  }

  /** The same refund, asked for twice: the second asks for what is not there any more. */
  async #refundTwice(): Promise<void> {
    const { diary, books, company } = this.world;
    // The older version does not say to where the money went.
    if (company.isOlder) return;
    const { invoices } = (await this.as('billing').get('/staff/invoices?status=paid&limit=50')).body.data;
    const these = invoices.filter(
      ({ kind, total }: { kind: string; total: string }) => kind === 'renewal' && total !== '0.00',
    );
    if (these.length === 0) return;
    const invoice = this.chance.of(...these) as { id: number; organization: { id: number } };
    const method = this.chance.of('credit', 'original');
    const body = { reason: 'We were down', method };
    for (const what of ['refunds', 'refunds twice']) {
      const answer = await this.as('billing').post(`/staff/invoices/${invoice.id}/refund`, body);
      // What came by bank or from credit goes back to the credit alone.
      const mayBe = what === 'refunds' && method === 'credit' ? [] : ['conflict'];
      if (!diary.took(what, answer, mayBe)) continue;
      const returned = answer.body.data.returned as { method: string; amount: string }[];
      const sum = (isCredit: boolean) =>
        returned
          .filter((each) => (each.method === 'credit') === isCredit)
          .reduce((all, { amount }) => all + minorOf(amount), 0);
      const minor = sum(true) + sum(false);
      if (what === 'refunds twice') diary.surprises.push(`invoice ${invoice.id} was refunded twice`);
      books
        .of(invoice.organization.id)
        .refunds.push({ invoiceId: invoice.id, minor, toCredit: sum(true), toCard: sum(false) });
    }
  }

  /** Credit is granted to the wrong customer, who keeps it; the right one gets the same. */
  async #creditToTheWrong(): Promise<void> {
    const { diary, books, customers } = this.world;
    const here = customers.filter(({ isHere }) => isHere);
    if (here.length < 2) return;
    for (const customer of [this.chance.of(...here), this.chance.of(...here)]) {
      const body = { amount: '4.00', currency: 'EUR', description: 'For the trouble' };
      const path = `/staff/organizations/${customer.organizationId}/credit`;
      if (diary.took('grants credit', await this.as('billing').post(path, body)))
        books.of(customer.organizationId).granted += 400;
    }
  }

  /** A transfer is booked for somebody else, taken back, and booked where it belongs. */
  async #wrongTransfer(): Promise<void> {
    const { diary, books, customers, bank } = this.world;
    const here = customers.filter(({ isHere }) => isHere);
    if (here.length < 2) return;
    const [right, wrong] = [this.chance.of(...here), this.chance.of(...here)];
    const reference = `ERR-${bank.all.length}-${this.world.today}`;
    const body = { amount: '10.00', currency: 'EUR', reference, invoices: [] };
    const book = async (to: number, text: string) => {
      const answer = await this.as('billing').post(`/staff/organizations/${to}/transfers`, {
        ...body,
        reference: text,
      });
      if (!diary.took('books a transfer to credit', answer)) return null;
      const known = {
        id: answer.body.data.transfer.id as number,
        reference: text,
        minor: 1_000,
        isTakenBack: false,
      };
      books.of(to).transfers.push(known);
      return known;
    };
    const booked = await book(wrong.organizationId, reference);
    if (booked === null) return;
    const path = `/staff/transfers/${booked.id}/take-back`;
    const answer = await this.as('billing').post(path, { reason: 'It was of another customer' });
    if (!diary.took('takes a transfer back', answer, ['insufficient_credit', 'conflict'])) return;
    booked.isTakenBack = true;
    await book(right.organizationId, `${reference}-R`);
  }

  /** A wrong price for an hour: whoever ordered meanwhile has it. */
  async #wrongPrice(): Promise<void> {
    const { diary, goods } = this.world;
    const path = `/staff/products/${goods.ids.hosting}`;
    for (const price of ['0.30', '3.00'])
      diary.took(
        'changes a price',
        await this.as('administrator').patch(path, { prices: [{ cycle: 'monthly', price }] }),
      );
  }

  /** A product is taken off the list for a night. */
  async #withdraw(): Promise<void> {
    const { diary, goods } = this.world;
    const path = `/staff/products/${goods.ids.dedicated}`;
    const admin = this.as('administrator');
    this.#isWithdrawn = !this.#isWithdrawn;
    const status = this.#isWithdrawn ? 'hidden' : 'active';
    diary.took(`makes a product ${status}`, await admin.patch(path, { status }));
  }

  /** It should have been ten per cent, and is ended before anybody had it. */
  async #tooGreatACoupon(): Promise<void> {
    const { diary, today } = this.world;
    const made = await this.as('billing').post('/staff/coupons', { code: `OOPS-${today}`, percent: 100 });
    if (!diary.took('makes a coupon of all', made)) return;
    const { id } = made.body.data.coupon;
    diary.took('ends a coupon', await this.as('billing').post(`/staff/coupons/${id}/end`));
  }

  /** Signed in with both factors, a look at what a customer sees; nothing may be changed by it. */
  async #lookAsCustomer(): Promise<void> {
    const { diary, customers, company } = this.world;
    const here = customers.filter(({ isHere }) => isHere);
    if (here.length === 0) return;
    const customer = this.chance.of(...here);
    const { email, password, totp_secret } = company.demo.staff;
    const first = await company.client('').post('/auth/login', { email, password });
    const session = company.client(tokenOf(first));
    const secret = Secret.fromBase32(totp_secret);
    const code = new TOTP({ secret }).generate({ timestamp: company.now });
    const second = await session.post('/auth/login/2fa', { code });
    if (!diary.took('staff signs in', second, ['invalid_code'])) return;
    const strong = company.client(tokenOf(second) || tokenOf(first));
    const body = { reason: 'You asked us to look', organization_id: customer.organizationId };
    const begun = await strong.post(`/staff/users/${customer.userId}/impersonate`, body);
    if (!diary.took('looks as a customer', begun)) return;
    const asCustomer = company.client(begun.body.data.token, customer.organizationId);
    diary.took('sees services as a customer', await asCustomer.get('/dashboard/services'));
    const written = await asCustomer.post('/dashboard/credit/top-up', { amount: '5.00' });
    if (written.status === 200) diary.surprises.push('who only looks as a customer has ordered');
    const path = `/staff/impersonations/${begun.body.data.impersonation.id}/end`;
    diary.took('looks no more', await strong.post(path));
  }
}
