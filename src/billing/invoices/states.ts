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
}

const rules = {
  pay: { done: 'paid', from: ['unpaid'], code: 'invoice_not_payable' },
  cancel: {
    done: 'cancelled',
    from: ['unpaid'],
    code: 'conflict',
    not: {
      renewal: 'This invoice is for a service that runs; cancel the service',
      late_fee: 'This is the fee for an invoice that was not paid in time; write to us about it',
    },
  },
} as const satisfies Record<string, Rule>;

export type InvoiceAction = keyof typeof rules;

export const invoiceActions = Object.keys(rules) as InvoiceAction[];

export const refusalCodes = ['invoice_not_payable', 'conflict'] as const;

interface Facts {
  id: number;
  status: string;
  kind: InvoiceKind;
}

/** Why an action is not possible right now; null when it is possible. */
export function reasonAgainst(action: InvoiceAction, { id, status, kind }: Facts) {
  const rule: Rule = rules[action];
  const { code } = rule;
  if (!rule.from.some((from) => from === status)) {
    return { code, message: `Invoice ${id} is ${status}, so it cannot be ${rule.done}` };
  }
  const message = rule.not?.[kind];
  return message === undefined ? null : { code, message };
}

/** Throws the reason against an action, with `advice` behind it, unless it is possible. */
export function requireAction(action: InvoiceAction, invoice: Facts, advice = ''): void {
  const refusal = reasonAgainst(action, invoice);
  if (refusal !== null) throw fail(refusal.code, { message: `${refusal.message}${advice}` });
}

/** Each action with whether it is possible, and why not (contract §3). */
export function actionsOf(invoice: Facts) {
  const each = invoiceActions.map((action) => {
    const refusal = reasonAgainst(action, invoice);
    const { message: reason = null, code = null } = refusal ?? {};
    return [action, { allowed: refusal === null, reason, code }] as const;
  });
  return Object.fromEntries(each) as Record<InvoiceAction, (typeof each)[number][1]>;
}
