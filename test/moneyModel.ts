import { catchUp } from './money/adopt.ts';
import { correct, decide, dispute, refund, takeBack } from './money/back.ts';
import type { Customer } from './money/books.ts';
import { accountsOf, compare, tally } from './money/compare.ts';
import {
  changeCycle,
  deliver,
  end,
  endLater,
  order,
  price,
  renew,
  revoke,
  terminate,
  upgrade,
} from './money/orders.ts';
import { cancel, card, grant, pay, topUp, transfer } from './money/payments.ts';
import { Shop } from './money/shop.ts';
import { type Kind, type Step, stepsOf } from './money/steps.ts';
import { passTime } from './money/time.ts';
import type { PaidProduct } from './stripe/product.ts';

/** Does one step and holds the answer against the books in memory, which say the same afterwards. */
type Act<K extends Kind> = (shop: Shop, customer: Customer, what: Step<K>, name: string) => Promise<unknown>;

const acts: { [K in Kind]: Act<K> } = {
  ...{ order, deliver, renew, upgrade, changeCycle, end, endLater, revoke, terminate, price },
  ...{ grant, topUp, transfer, pay, card, cancel, refund, takeBack, dispute, decide, correct },
};

/** Between two of so many steps of each customer some days go by: mostly few, sometimes as many as a holiday has. */
const stepsADay = 4;
const days = [1, 1, 9, 1, 2, 1, 14, 1, 3];

/**
 * Does so many random things with money, many customers at once, and holds the product against the model: what each answer
 * should be, and at the end every balance, invoice, service and account of the ledger. Time passes in between.
 */
export async function runMoneyModel(
  paid: PaidProduct,
  options: { steps: number; customers: number; seed: number },
): Promise<void> {
  const { steps, customers, seed } = options;
  const shop = await Shop.open(paid, seed, customers);
  const before = await accountsOf(shop);
  const all = stepsOf(seed, steps);
  const atOnce = customers * stepsADay;
  for (let at = 0; at < all.length; at += atOnce) {
    const round = all.slice(at, at + atOnce);
    await Promise.all(
      shop.customers.map(async (customer, lane) => {
        for (let index = lane; index < round.length; index += customers) {
          await take(shop, customer, round[index] as Step, `${seed}-${at + index}`);
        }
      }),
    );
    await passTime(shop, days[(at / atOnce) % days.length] ?? 1);
  }
  await shop.quiet();
  console.log(tally(shop));
  await compare(shop, before);
}

async function take<K extends Kind>(
  shop: Shop,
  customer: Customer,
  what: Step<K>,
  name: string,
): Promise<void> {
  const act = acts[what.kind as K] as Act<K>;
  await act(shop, customer, what, name);
  await shop.shows(customer);
  await catchUp(shop, customer);
}
