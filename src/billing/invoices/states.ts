import { possibleActions } from '../../platform/http/index.ts';
import { fail } from '../../platform/index.ts';
import type { InvoiceKind } from './kind.ts';

/** States of an invoice and what may be done in each: the one table that enforces it and that customers see. */
export const invoiceStatuses = [
  'draft',
  'unpaid',
  'paid',
  'cancelled',
  'refunded',
  'partially_refunded',
] as const;

export type InvoiceStatus = (typeof invoiceStatuses)[number];

interface Rule {
  /** As in "so it cannot be …". */
  done: string;
  from: readonly InvoiceStatus[];
  code: 'invoice_not_payable' | 'conflict';
  /** Invoices that it is not for, with why and what to do instead. */
  not?: Partial<Record<InvoiceKind, string>>;
  /** Why not while a payment is on its way. */
  notWhileComing?: string;
}

/** Why what a payment is on its way for is not given up. */
export const whileComing =
  'A payment for this invoice is on its way, which may take some days; wait until it has arrived or failed, or write to us';

const rules = {
  pay: { done: 'paid', from: ['unpaid'], code: 'invoice_not_payable' },
  cancel: {
    done: 'cancelled',
    from: ['unpaid'],
    code: 'conflict',
    not: {
      renewal: 'This invoice is for a service that runs; cancel the service',
      late_fee: 'This is the fee for an invoice that was not paid in time; write to us about it',
      manual: 'This invoice cannot be cancelled here; write to us about it',
    },
    notWhileComing: whileComing,
  },
} as const satisfies Record<string, Rule>;

/** What staff does; nothing that its customer may not keeps it from that. */
const staffRules = {
  cancel: { done: 'cancelled', from: ['unpaid'], code: 'conflict' },
  correct: {
    done: 'corrected',
    from: ['unpaid', 'paid', 'partially_refunded'],
    code: 'conflict',
    not: { credit_note: 'This is a credit note, which corrects an invoice itself' },
  },
} as const satisfies Record<string, Rule>;

export type InvoiceAction = keyof typeof rules;

export const invoiceActions = Object.keys(rules) as InvoiceAction[];

export const refusalCodes = ['invoice_not_payable', 'conflict'] as const;

interface Facts {
  id: number;
  status: string;
  kind: InvoiceKind;
  /** Whether a payment is on its way; staff does what it does all the same. */
  isComing?: boolean;
}

/** Why an action is not possible right now; null when it is possible. */
export function reasonAgainst(action: InvoiceAction, invoice: Facts) {
  return reasonBy(rules[action], invoice);
}

function reasonBy(rule: Rule, { id, status, kind, isComing = false }: Facts) {
  const { code } = rule;
  if (!rule.from.some((from) => from === status)) {
    return { code, message: `Invoice ${id} is ${status}, so it cannot be ${rule.done}` };
  }
  const message = rule.not?.[kind] ?? (isComing ? rule.notWhileComing : undefined);
  return message === undefined ? null : { code, message };
}

/** Throws the reason against an action, with `advice` behind it, unless it is possible. */
export function requireAction(action: InvoiceAction, invoice: Facts, advice = ''): void {
  const refusal = reasonAgainst(action, invoice);
  if (refusal !== null) throw fail(refusal.code, { message: `${refusal.message}${advice}` });
}

/** The same for what staff does. */
export function requireStaffAction(action: keyof typeof staffRules, invoice: Facts, advice = ''): void {
  const refusal = reasonBy(staffRules[action], invoice);
  if (refusal !== null) throw fail(refusal.code, { message: `${refusal.message}${advice}` });
}

/** Each action with whether it is possible, and why not (contract §3). */
export function actionsOf(invoice: Facts) {
  return possibleActions(invoiceActions, (action) => reasonAgainst(action, invoice));
}
