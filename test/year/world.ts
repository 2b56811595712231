import { Bank } from './bank.ts';
import { Books } from './books.ts';
import { Chance } from './chance.ts';
import type { Company } from './company.ts';
import { Customer } from './customer.ts';
import { Diary } from './diary.ts';
import { type Hooks, openHooks } from './hooks.ts';
import { Staff } from './staff.ts';

/** Whatever the company's people, its customers and its bank know of each other. */
export class World {
  readonly company: Company;
  readonly chance: Chance;
  readonly books = new Books();
  readonly bank = new Bank();
  readonly diary = new Diary();
  readonly customers: Customer[] = [];
  readonly staff: Staff;
  readonly goods = { ids: {} as Record<string, number>, coupon: 'ALWAYS20' };
  hooks!: Hooks;

  private constructor(company: Company, seed: number) {
    this.company = company;
    this.chance = new Chance(seed);
    this.staff = new Staff(this);
  }

  static async open(company: Company, seed: number): Promise<World> {
    const world = new World(company, seed);
    // Some hosts are away on some days, and one of eight for good.
    world.hooks = await openHooks(
      (id) => id % 8 === 3 || (Math.floor(company.now / 86_400_000) + id) % 9 === 0,
    );
    return world;
  }

  get today(): string {
    return this.company.today;
  }

  /** So many customers, who come one after another during the first part of the time. */
  invite(count: number, days: number): void {
    for (let nth = 0; nth < count; nth += 1) {
      const day = Math.floor((nth * days) / count);
      const joinsOn = new Date(this.company.now + day * 86_400_000).toISOString().slice(0, 10);
      this.customers.push(new Customer(this, nth, joinsOn));
    }
  }

  /** All customers have their day, some of them at the same time. */
  async customersDay(): Promise<void> {
    const queue = [...this.customers];
    const lanes = Array.from({ length: 6 }, async () => {
      for (let customer = queue.shift(); customer !== undefined; customer = queue.shift())
        await customer.day();
    });
    await Promise.all(lanes);
  }
}
