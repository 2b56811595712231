import { createHmac } from 'node:crypto';
import { nowS, type Objects, type StripeObject } from './objects.ts';

/** How an event is sent, besides once, signed and now. */
export interface Sending {
  /** Instead of the endpoint's own: somebody else's. */
  secret?: string;
  /** Signed so many seconds ago. */
  agedS?: number;
  /** Instead of the event as it is: changed after it was signed. */
  tamper?: (body: string) => string;
}

/**
 * The events of an account and how they reach the endpoint: at once, or held until a test has them delivered in an order
 * of its own. What the endpoint did not take (no 2xx) is kept and can be sent again, as Stripe does for three days.
 */
export class Deliveries {
  readonly #objects: Objects;
  readonly #secret: string;
  #endpoint: string | null = null;
  #isHeld = false;
  #waiting: StripeObject[] = [];
  #underWay = new Set<Promise<unknown>>();
  readonly events: StripeObject[] = [];

  constructor(objects: Objects, secret: string) {
    this.#objects = objects;
    this.#secret = secret;
  }

  /** Where events go from now on; null: nowhere. */
  sendTo(endpoint: string | null): void {
    this.#endpoint = endpoint;
  }

  tell(type: string, object: StripeObject): void {
    const event = this.#objects.make('evt', 'event', {
      ...{
        type,
        api_version: '2026-01-28.clover',
        pending_webhooks: 1,
        request: { id: null, idempotency_key: null },
      },
      data: { object: this.#objects.show(object) },
    });
    this.events.push(event);
    this.#waiting.push(event);
    // After the answer to the request that made it, as over a network.
    if (!this.#isHeld) setImmediate(() => void this.deliver());
  }

  /** From now on events wait for {@link deliver}. */
  hold(): void {
    this.#isHeld = true;
  }

  /** Events are sent as they come again, and those that waited now. */
  async release(): Promise<void> {
    this.#isHeld = false;
    await this.deliver();
  }

  /** Nobody ever sends what waits: the endpoint was away for too long. */
  lose(): void {
    this.#waiting = [];
  }

  /** Sends what waits, each so many times, in this order; what is not taken waits again. Gives the answers. */
  async deliver(
    times = 1,
    order: (events: StripeObject[]) => StripeObject[] = (all) => all,
  ): Promise<number[]> {
    const events = this.#waiting;
    this.#waiting = [];
    const answers: number[] = [];
    for (const event of order(events)) {
      let taken = false;
      for (let time = 0; time < times; time += 1) {
        const status = await this.send(event);
        taken ||= status >= 200 && status < 300;
        answers.push(status);
      }
      if (!taken) this.#waiting.push(event);
    }
    return answers;
  }

  /** Sends one event, and gives the endpoint's answer; 0 when there was none. */
  send(event: object, sending: Sending = {}): Promise<number> {
    const sent = this.#send(event, sending);
    this.#underWay.add(sent);
    return sent.finally(() => this.#underWay.delete(sent));
  }

  async #send(event: object, { secret = this.#secret, agedS = 0, tamper }: Sending): Promise<number> {
    if (this.#endpoint === null) return 0;
    const body = JSON.stringify(event);
    const at = nowS() - agedS;
    const signature = createHmac('sha256', secret).update(`${at}.${body}`).digest('hex');
    try {
      const answer = await fetch(this.#endpoint, {
        method: 'POST',
        headers: {
          'content-type': 'application/json; charset=utf-8',
          'stripe-signature': `t=${at},v1=${signature}`,
        },
        body: tamper?.(body) ?? body,
        redirect: 'manual',
      });
      await answer.arrayBuffer();
      return answer.status;
    } catch {
      return 0;
    }
  }

  /** Returns once nothing is on its way. */
  async quiet(): Promise<void> {
    await new Promise((resolve) => setImmediate(resolve));
    while (this.#underWay.size > 0) await Promise.all(this.#underWay);
  }
}
