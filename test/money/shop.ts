import { expect } from 'vitest';
import { type Client, patient, type Response } from '../client.ts';
import { newCustomer } from '../people.ts';
import { until } from '../product.ts';
import { newHosting } from '../products.ts';
import { settled, sql } from '../sql.ts';
import type { PaidProduct } from '../stripe/product.ts';
import { Books, Customer, dueDateOf, type ProductName, type Service } from './books.ts';
import { dayOf, textOf } from './rules.ts';
import type { Step } from './steps.ts';

/** Long: it only bounds a hang, and the machine may be busy with other tests. */
const patienceMs = 180_000;

/** A price that staff changes while customers order: what somebody finds is one of those that counted meanwhile. */
export class Price {
  readonly #all: number[];
  #oldest = 0;
  #changing: Promise<unknown> = Promise.resolve();
  constructor(minor: number) {
    this.#all = [minor];
  }

  /** Where the prices begin that may count from now on. */
  get now(): number {
    return this.#oldest;
  }

  /** Every price that may have counted since then, the newest first. */
  since(oldest: number): number[] {
    return this.#all.slice(oldest).toReversed();
  }

  change(minor: number, write: () => Promise<void>): Promise<void> {
    const changed = this.#changing.then(async () => {
      this.#all.push(minor);
      await write();
      this.#oldest = this.#all.length - 1;
    });
    this.#changing = changed;
    return changed;
  }
}

interface Goods {
  id: number;
  price: Price;
  /** Of three years, which nobody changes. */
  yearsMinor: number;
}

/** By the month, and by three years, which do not end while the model is played. */
function sold(minor: number) {
  return {
    prices: [
      { cycle: 'monthly' as const, priceMinor: minor, setupFeeMinor: 0 },
      { cycle: 'triennially' as const, priceMinor: 30 * minor, setupFeeMinor: 0 },
    ],
  };
}

/** What the model is played against: a product with a payment provider, what it sells, and the books of it all. */
export class Shop {
  readonly paid: PaidProduct;
  readonly seed: number;
  readonly staff: Client;
  readonly books = new Books(() => this.today);
  readonly customers: Customer[] = [];
  readonly goods: Record<ProductName, Goods>;
  readonly coupons = { once: 'MODEL-ONCE', recurring: 'MODEL-ALWAYS' };
  /** Per cent that either coupon takes off. */
  readonly couponPercent = 15;
  readonly lateFee = { percent: 5, minor: 200 };

  private constructor(paid: PaidProduct, seed: number, goods: Record<ProductName, Goods>) {
    this.paid = paid;
    this.staff = patient(paid.product.staff);
    this.seed = seed;
    this.goods = goods;
  }

  static async open(paid: PaidProduct, seed: number, customers: number): Promise<Shop> {
    const { product } = paid;
    const goods = {
      small: { id: await newHosting(product, 300, sold(300)), price: new Price(300), yearsMinor: 9_000 },
      large: { id: await newHosting(product, 700, sold(700)), price: new Price(700), yearsMinor: 21_000 },
    };
    const shop = new Shop(paid, seed, goods);
    await sql(
      product,
      `insert into tax_rates (country, rate_basis_points) values ('CZ', 2100) on conflict do nothing`,
    );
    for (const [name, code] of Object.entries(shop.coupons)) {
      await sql(
        product,
        'insert into coupons (code, percent, recurring, created_at) values ($1, $2, $3, now())',
        ...[code, shop.couponPercent, name === 'recurring'],
      );
    }
    const { percent, minor } = shop.lateFee;
    const settings = {
      cancellation: { refund: 'unused' },
      payments: { credit_first: true },
      calendar: {
        ...{ late_fee_days_after: 10, late_fee_percent: percent },
        late_fee_amounts: [{ currency: 'EUR', amount: textOf(minor) }],
      },
    };
    expect((await product.staff.patch('/staff/settings', settings)).status).toBe(200);
    for (let nth = 0; nth < customers; nth += 1) {
      const hasTax = nth % 2 === 0;
      const person = await newCustomer(product, { country: hasTax ? 'CZ' : null });
      const methodId = await paid.saveMethod(person);
      shop.customers.push(new Customer({ ...person, ...patient(person) }, hasTax, methodId));
    }
    await shop.quiet();
    // Midnight comes when the model says so.
    const now = product.clock.now().getTime();
    product.clock.travel(msPerDay - (now % msPerDay) + 60_000);
    return shop;
  }

  get product() {
    return this.paid.product;
  }

  get today(): string {
    return dayOf(this.product.clock.now());
  }

  /** Waits until the workers have nothing left to do. */
  quiet(): Promise<void> {
    return settled(this.product, patienceMs);
  }

  /** Waits until what a question to the database finds is so. */
  async becomes<Row extends object>(
    check: (rows: Row[]) => boolean,
    text: string,
    ...values: unknown[]
  ): Promise<Row[]> {
    return until(() => sql<Row>(this.product, text, ...values), check, patienceMs);
  }

  /** Waits until the product shows a customer's services as the model has them. */
  async shows(customer: Customer): Promise<void> {
    for (const service of customer.services) {
      if (!service.isToShow) continue;
      service.isToShow = false;
      const wanted = this.viewOf(service);
      let seen: unknown;
      await until(
        async () => {
          const { body } = await customer.person.get(`/dashboard/services/${service.id}`);
          const { id, status, duedate, price, cancelled, product } = body.data.service;
          seen = { id, status, duedate, price, cancelled, product: product.id };
          return seen;
        },
        (now) => JSON.stringify(now) === JSON.stringify(wanted),
        patienceMs,
      ).catch(() => expect(seen, `seed ${this.seed}`).toEqual(wanted));
    }
  }

  viewOf(service: Service) {
    const { id, status, priceMinor, product, isEnding } = service;
    const duedate = dueDateOf(service);
    const terms = { price: textOf(priceMinor), cancelled: isEnding, product: this.goods[product].id };
    return { id, status, duedate, ...terms };
  }

  /** What an answer has to do with which step. */
  says(name: string, step: Step, ...answers: Response[]): string {
    return `${name} ${JSON.stringify(step)}: ${answers.map(({ body }) => JSON.stringify(body)).join()}`;
  }
}

const msPerDay = 86_400_000;
