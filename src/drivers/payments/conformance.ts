import { randomUUID } from 'node:crypto';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { newId } from '../../platform/index.ts';
import type { NewCharge, NewPage, Page, Payments, ProviderEvent } from './contract.ts';

/** How the provider's test mode treats a saved method. */
export type TestMethod = 'good' | 'declined' | 'authenticates';

/** What the suite needs to know of the driver it tests. */
export interface PaymentsUnderTest {
  payments: Payments;
  currency: string;
  /** Saves a method with a customer, past the driver; gives its reference. */
  save(customer: string, method: TestMethod): Promise<string>;
  /** Fills in a page as its customer; null where no browser is at hand. */
  click: ((page: string, method: TestMethod) => Promise<void>) | null;
  /** Has the provider send money to our bank, which takes it or does not; gives its reference. Null where that takes days. */
  payOut: ((amountMinor: number, outcome: 'arrives' | 'fails') => Promise<string>) | null;
  /** A message as the provider would send it, signed so many seconds ago, about something of this kind. */
  message(about: MessageAbout, agedS?: number): { body: Buffer; headers: Record<string, string> };
  close(): Promise<void>;
}

/** A payment or payout of ours; something of another account, of another mode, of a kind that is none of ours. */
export type MessageAbout =
  | { payment: string }
  | { payout: string }
  | 'other account'
  | 'other mode'
  | 'other kind';

/** What every driver must do; `skip` is the reason why this host cannot run the suite, or null. */
export function describePayments(
  name: string,
  make: () => Promise<PaymentsUnderTest>,
  skip: string | null = null,
): void {
  describe.skipIf(skip !== null)(`${name} keeps the payments contract`, () => {
    let test: PaymentsUnderTest;
    let payments: Payments;
    let customer: string;
    beforeAll(async () => {
      test = await make();
      payments = test.payments;
      const who = { organizationId: newId(), name: 'Novák & Søn “Labs” 日本', email: 'ada@example.com' };
      customer = await payments.openCustomer({ key: randomUUID(), ...who });
    });
    afterAll(() => test?.close());

    const page = (): NewPage => ({
      key: randomUUID(),
      id: newId(),
      customer,
      currency: test.currency,
      returnUrl: 'https://panel.example.com/paid',
      cancelUrl: 'https://panel.example.com/back',
    });
    const paidFor = () => ({ organizationId: newId(), invoiceId: newId() });
    const paymentPage = () => ({ ...page(), ...paidFor(), amountMinor: 1_234, description: 'Invoice 7' });
    const charge = async (method: TestMethod, amountMinor = 1_234): Promise<NewCharge> => ({
      ...{ key: randomUUID(), id: newId(), customer, amountMinor, currency: test.currency, ...paidFor() },
      ...{ method: await test.save(customer, method), description: 'Invoice 7' },
    });
    const charged = async (method: TestMethod) => {
      const asked = await charge(method);
      return { asked, truth: await payments.confirmCharge(await payments.prepareCharge(asked)) };
    };
    const click = (opened: Page, method: TestMethod) => {
      if (test.click === null) throw new Error('there is no browser');
      return test.click(opened.url, method);
    };
    const permanently = (code: string) => expect.objectContaining({ code, permanent: true });

    it('opens a page once, however often it is asked, and closes it for good', async () => {
      const asked = paymentPage();
      const opened = await payments.openPaymentPage(asked);
      expect(await payments.openPaymentPage(asked)).toEqual(opened);
      expect(opened.url).toMatch(/^https?:\/\//);
      expect(opened.expiresAt.getTime()).toBeGreaterThan(Date.now() + 1_800_000);
      const about = { kind: 'page', reference: opened.reference } as const;
      expect(await payments.look(about)).toMatchObject({
        ...about,
        id: asked.id,
        state: 'open',
        payment: null,
      });
      await payments.closePage(opened.reference);
      await payments.closePage(opened.reference);
      expect(await payments.look(about)).toMatchObject({ state: 'over' });
    });

    it('opens a page to save a method on', async () => {
      const opened = await payments.openSavingPage(page());
      const truth = await payments.look({ kind: 'page', reference: opened.reference });
      expect(truth).toMatchObject({ state: 'open', payment: null, method: null });
    });

    it('says what it cannot take', async () => {
      for (const amountMinor of [1, 100_000_000_000]) {
        const opening = payments.openPaymentPage({ ...paymentPage(), amountMinor });
        await expect(opening).rejects.toEqual(permanently('payment_invalid'));
      }
    });

    it('takes the least that it names, and nothing below', async () => {
      const least = payments.leastMinor(test.currency);
      expect(Number.isSafeInteger(least) && least >= 1).toBe(true);
      const preparing = async (amountMinor: number) =>
        payments.prepareCharge(await charge('good', amountMinor));
      const { state } = await payments.confirmCharge(await preparing(least));
      expect(state).toBe('paid');
      if (least > 1) await expect(preparing(least - 1)).rejects.toEqual(permanently('payment_invalid'));
    });

    it('charges a saved method once, however often it is asked', async () => {
      const asked = await charge('good');
      const reference = await payments.prepareCharge(asked);
      expect(await payments.prepareCharge(asked)).toBe(reference);
      const about = { kind: 'payment', reference } as const;
      expect(await payments.look(about)).toMatchObject({ id: asked.id, state: 'open', decline: null });
      const truth = await payments.confirmCharge(reference);
      expect(truth).toMatchObject({
        reference,
        id: asked.id,
        customer,
        organizationId: asked.organizationId,
        invoiceId: asked.invoiceId,
        state: 'paid',
        amountMinor: 1_234,
        refunds: [],
        disputes: [],
      });
      expect(truth.currency).toBe(test.currency);
      expect(truth.fee?.minor).toBeGreaterThan(0);
      expect(await payments.confirmCharge(reference)).toEqual(truth);
      expect(await payments.look(about)).toEqual({ kind: 'payment', ...truth });
    });

    it('charges once when it is asked many times at once', async () => {
      const reference = await payments.prepareCharge(await charge('good'));
      const asking = Array.from({ length: 5 }, () => payments.confirmCharge(reference));
      const answers = await Promise.allSettled(asking);
      // One that meets another may be refused for now.
      const failed = answers.flatMap((each) => (each.status === 'rejected' ? [each.reason] : []));
      for (const reason of failed) expect(reason).toMatchObject({ permanent: false });
      expect((await payments.confirmCharge(reference)).state).toBe('paid');
    });

    it('says why a method was declined, and does not try it again by itself', async () => {
      const { asked, truth } = await charged('declined');
      expect(truth).toMatchObject({ id: asked.id, state: 'failed', fee: null });
      expect(truth.decline).toMatchObject({ needsCustomer: false, mayRetry: true });
      expect(truth.decline?.message).not.toBe('');
      expect(await payments.confirmCharge(truth.reference)).toEqual(truth);
    });

    it('says when the bank wants the customer there', async () => {
      const { truth } = await charged('authenticates');
      expect(truth).toMatchObject({ state: 'failed', decline: { needsCustomer: true, mayRetry: false } });
    });

    it('gives money back in parts, each once, and never more than was paid', async () => {
      const { truth } = await charged('good');
      const refund = { payment: truth.reference, currency: test.currency, amountMinor: 1_000 };
      const first = { ...refund, key: randomUUID(), id: newId() };
      const done = await payments.refund(first);
      expect(done).toMatchObject({ id: first.id, amountMinor: 1_000, state: 'done' });
      expect(await payments.refund(first)).toEqual(done);
      // As if the key had been forgotten.
      expect(await payments.refund({ ...first, key: randomUUID() })).toEqual(done);
      const more = payments.refund({ ...refund, key: randomUUID(), id: newId() });
      await expect(more).rejects.toMatchObject({ permanent: true });
      const rest = await payments.refund({ ...refund, key: randomUUID(), id: newId(), amountMinor: 234 });
      const seen = await payments.look({ kind: 'payment', reference: truth.reference });
      expect(seen).toMatchObject({ state: 'paid', amountMinor: 1_234 });
      expect(seen?.kind === 'payment' && new Set(seen.refunds)).toEqual(new Set([rest, done]));
    });

    it('forgets a method, also one that is forgotten', async () => {
      const reference = await test.save(customer, 'good');
      const about = { kind: 'method', reference } as const;
      expect(await payments.look(about)).toMatchObject({ customer, type: 'card', last4: '4242' });
      await payments.forgetMethod(reference, customer);
      await payments.forgetMethod(reference, customer);
      expect(await payments.look(about)).toMatchObject({ customer: null });
      await payments.forgetMethod('pm_unknown', customer);
    });

    it('has forgotten nothing that may be kept in another account', async () => {
      const elsewhere = { code: 'provider_refused', permanent: false };
      await expect(payments.forgetMethod('pm_unknown', 'cus_unknown')).rejects.toMatchObject(elsewhere);
      await expect(payments.forgetCustomer('cus_unknown')).rejects.toMatchObject(elsewhere);
    });

    it('forgets a customer with what is saved of them, also one that is forgotten, and still gives back what they paid', async () => {
      const leaving = await payments.openCustomer({
        ...{
          key: `leaving-${randomUUID()}`,
          organizationId: 8,
          name: 'Leaving',
          email: 'leaving@example.com',
        },
      });
      const method = await test.save(leaving, 'good');
      const charge = {
        ...{ key: randomUUID(), id: 77, organizationId: 8, invoiceId: 9, description: 'Invoice 9' },
      };
      const paid = await payments.prepareCharge({
        ...{ ...charge, customer: leaving, method, amountMinor: 500, currency: 'EUR' },
      });
      await payments.confirmCharge(paid);
      await payments.forgetCustomer(leaving);
      await payments.forgetCustomer(leaving);
      expect(await payments.look({ kind: 'method', reference: method })).toMatchObject({ customer: null });
      const back = { key: randomUUID(), payment: paid, id: 78, amountMinor: 500, currency: 'EUR' };
      expect(await payments.refund(back)).toMatchObject({ amountMinor: 500 });
    });

    it('knows nothing of what is not in its account', async () => {
      for (const kind of ['page', 'payment', 'method', 'payout'] as const) {
        expect(await payments.look({ kind, reference: 'pi_unknown' })).toBeNull();
      }
    });

    it('believes what the provider signed a moment ago, and nothing else', () => {
      const { body, headers } = test.message({ payment: 'pi_1' });
      const about = { kind: 'payment', reference: 'pi_1' };
      const read = (bytes: Buffer, more: Record<string, string> = headers) => payments.readEvent(bytes, more);
      expect(read(body)).toMatchObject({ about });
      expect(read(body).reference).toBe(read(body).reference);
      const forged = permanently('signature_invalid');
      expect(() => read(Buffer.concat([body, Buffer.from(' ')]))).toThrow(forged);
      expect(() => read(Buffer.alloc(0))).toThrow(forged);
      expect(() => read(body, {})).toThrow(forged);
      for (const [name, value] of Object.entries(headers)) {
        for (const wrong of ['', 'x', `${value.slice(0, -1)}${value.endsWith('0') ? '1' : '0'}`]) {
          expect(() => read(body, { [name]: wrong }), wrong).toThrow(forged);
        }
      }
      const stale = test.message({ payment: 'pi_1' }, 3_600);
      expect(() => read(stale.body, stale.headers)).toThrow(permanently('signature_stale'));
    });

    it.each(['other account', 'other mode', 'other kind'] as const)(
      'finds nothing of ours in an event of %s',
      (which) => {
        const { body, headers } = test.message(which);
        expect(payments.readEvent(body, headers)).toMatchObject({ about: null });
      },
    );

    it('tells what happened since', { timeout: 60_000 }, async () => {
      const since = new Date(Date.now() - 60_000);
      const { truth } = await charged('good');
      const all = async () => {
        const found: ProviderEvent[] = [];
        for (let after: string | null = null, isFirst = true; isFirst || after !== null; isFirst = false) {
          const part = await payments.eventsSince(since, after);
          found.push(...part.events);
          after = part.after;
        }
        return found;
      };
      const about = { kind: 'payment', reference: truth.reference };
      await expect.poll(all, { timeout: 30_000 }).toContainEqual(expect.objectContaining({ about }));
      const references = (await all()).map(({ reference }) => reference);
      expect(new Set(references).size).toBe(references.length);
    });

    it('takes money on a page, after a decline as well', async ({ skip: leaveOut }) => {
      leaveOut(test.click === null);
      const asked = paymentPage();
      const opened = await payments.openPaymentPage(asked);
      const about = { kind: 'page', reference: opened.reference } as const;
      await click(opened, 'declined');
      expect(await payments.look(about)).toMatchObject({ state: 'open' });
      await click(opened, 'good');
      const truth = await payments.look(about);
      if (truth?.kind !== 'page' || truth.payment === null) throw new Error('nothing was paid');
      expect(truth).toMatchObject({ id: asked.id, state: 'finished' });
      const payment = await payments.look({ kind: 'payment', reference: truth.payment });
      const { id, organizationId, invoiceId } = asked;
      const ours = { id, customer, organizationId, invoiceId };
      expect(payment).toMatchObject({ ...ours, state: 'paid', amountMinor: 1_234 });
      await payments.closePage(opened.reference);
    });

    it('says what it sent to our bank, what it kept for that, and whether it arrived', async ({
      skip: leaveOut,
    }) => {
      if (test.payOut === null) return leaveOut();
      await charged('good');
      const about = { kind: 'payout', reference: await test.payOut(700, 'arrives') } as const;
      const { currency } = test;
      const truth = await payments.look(about);
      expect(truth).toMatchObject({ ...about, state: 'paid', amountMinor: 700, currency, failure: null });
      expect(truth).toMatchObject({ arrivesOn: expect.stringMatching(/^\d{4}-\d\d-\d\d$/) });
      expect(truth?.kind === 'payout' && truth.fee?.minor).toBeGreaterThanOrEqual(0);
      const failed = await payments.look({ kind: 'payout', reference: await test.payOut(300, 'fails') });
      expect(failed).toMatchObject({ state: 'failed', amountMinor: 300, failure: expect.any(String) });
      const { body, headers } = test.message({ payout: about.reference });
      expect(payments.readEvent(body, headers)).toMatchObject({ about });
    });

    it('keeps a method that was saved on a page', async ({ skip: leaveOut }) => {
      leaveOut(test.click === null);
      const opened = await payments.openSavingPage(page());
      await click(opened, 'good');
      const truth = await payments.look({ kind: 'page', reference: opened.reference });
      expect(truth).toMatchObject({ state: 'finished', method: { customer, type: 'card', last4: '4242' } });
    });
  });
}
