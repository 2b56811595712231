import type { Task } from './byHand/table.ts';
import { isByHand } from './kinds/kind.ts';
import { kindOf } from './kinds/table.ts';
import type { ServiceStatus } from './states.ts';

/** What a service can wait for. The last five are done by hand, where no room looks after its kind. */
export const waits = [
  ...(['payment', 'review', 'delivery'] as const),
  ...(['renew', 'change', 'suspend', 'unsuspend', 'terminate'] as const satisfies Task[]),
] as const;

/** Who has to do something: the customer, a person of staff, or the product itself. */
export const whose = ['customer', 'staff', 'product'] as const;

/** What of a service, and of its order, says what it waits for. */
export interface WaitingFacts {
  status: ServiceStatus;
  module_id: number;
  /** It is delivered on a server out of the rack. */
  on_server: boolean;
  provisioning_state: 'queued' | 'running' | 'done' | 'failed';
  created_at: Date;
  /** Since when its delivery is under way, or has failed. */
  delivery_since: Date | null;
  invoice_id: number;
  /** Of the order, while the service is pending. */
  invoice_status: string | null;
  /** Since when staff looks at the order; null unless it does. */
  held_at: Date | null;
  /** What staff has yet to do by hand, the oldest first. */
  tasks: { task: Task; since: string }[];
}

interface Waiting {
  for: (typeof waits)[number];
  by: (typeof whose)[number];
  message: string;
  since: Date;
}

/** What a service waits for, for its customer; empty when there is nothing. */
export function waitingOf(facts: WaitingFacts): Waiting[] {
  if (facts.status === 'pending') return [beforeDelivery(facts)];
  return facts.tasks.map(({ task, since }) => ({
    for: task,
    by: 'staff',
    message: wordsOf[task],
    since: new Date(since),
  }));
}

const wordsOf: Readonly<Record<Task, string>> = {
  renew: 'It is paid, and our staff is renewing it',
  change: 'Our staff is changing it to what you chose',
  suspend: 'Our staff is switching it off',
  unsuspend: 'Our staff is switching it on again',
  terminate: 'It has ended, and our staff is taking it down',
};

function beforeDelivery(facts: WaitingFacts): Waiting {
  const { invoice_id: invoiceId, created_at: ordered } = facts;
  if (facts.invoice_status === 'unpaid') {
    const message = `It is set up once invoice ${invoiceId} is paid`;
    return { for: 'payment', by: 'customer', message, since: ordered };
  }
  if (facts.held_at !== null) {
    const message = 'It is paid. We are checking your order before we set it up; you need not do anything';
    return { for: 'review', by: 'staff', message, since: facts.held_at };
  }
  const since = facts.delivery_since ?? ordered;
  if (facts.provisioning_state === 'failed') {
    const message = 'Setting it up failed. Our staff has been told and sees to it; you need not do anything';
    return { for: 'delivery', by: 'staff', message, since };
  }
  if (isByHand(kindOf(facts.module_id, facts.on_server)))
    return { for: 'delivery', by: 'staff', message: 'It is paid, and our staff is setting it up', since };
  return { for: 'delivery', by: 'product', message: 'It is paid and being set up', since };
}
