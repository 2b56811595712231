import { type Bytes, type Columns, csv } from '../../platform/http/index.ts';
import { type Context, currencyDigits, fail, formatMoney } from '../../platform/index.ts';
import { readSettings } from '../../settings/index.ts';
import type { AccountKind } from '../ledger/accounts.ts';
import { datev } from './datev.ts';
import { firstDayOf, type Month } from './month.ts';
import { requireClosed } from './periods.ts';
import { plainText } from './plainText.ts';
import { type PostingRow, postingsOf } from './postings.ts';
import { bookkeeping, numbersOf } from './settings.ts';

interface Asked {
  month: Month;
  format: 'csv' | 'datev';
  currency?: string | undefined;
  part?: number | undefined;
}

/**
 * All postings of a closed month, for the bookkeeper: a line for each entry as CSV, or for each pair of accounts in DATEV's
 * format. The same month gives the same bytes, as long as the settings are the same. `period_open`,
 * `bookkeeping_incomplete`.
 */
export async function exportBookkeeping(
  ctx: Context,
  { month, format, currency, part }: Asked,
): Promise<Bytes> {
  await requireClosed(ctx, month);
  const settings = await readSettings(ctx, bookkeeping);
  if (format === 'csv') {
    const rows = entriesOf(postingsOf(ctx, month, currency ?? null), numbersOf(settings), month);
    return csv(`bookkeeping-${month}.csv`, columns, rows);
  }
  const { consultant, client } = settings;
  if (consultant === null || client === null) throw fail('bookkeeping_incomplete');
  const one = currency ?? 'EUR';
  if (currencyDigits(one) > 2) {
    const message = 'must be a currency of at most two digits for DATEV; format csv has all of them';
    throw fail('invalid_request', { details: [{ field: 'currency', message }] });
  }
  const batch = { month, currency: one, part: part ?? 1, settings: { ...settings, consultant, client } };
  return datev(batch, postingsOf(ctx, month, one));
}

interface EntryRow {
  posting: PostingRow;
  month: Month;
  account: AccountKind;
  number: string;
  minor: number;
}

async function* entriesOf(
  postings: AsyncIterable<PostingRow>,
  numbers: Record<AccountKind, string>,
  month: Month,
): AsyncGenerator<EntryRow> {
  for await (const posting of postings)
    for (const { account, minor } of posting.entries)
      yield { posting, month, account, number: numbers[account], minor };
}

/** A line is one line, whatever somebody wrote. */
const longest = 1_000;

const columns: Columns<EntryRow> = {
  posting: ({ posting }) => posting.id,
  date: ({ posting, month }) => (posting.day < firstDayOf(month) ? firstDayOf(month) : posting.day),
  counts_on: ({ posting }) => posting.day,
  written_at: ({ posting }) => posting.created_at.toISOString(),
  kind: ({ posting }) => posting.kind,
  account: ({ account }) => account,
  account_number: ({ number }) => number,
  currency: ({ posting }) => posting.currency,
  debit: ({ posting, minor }) => (minor > 0 ? formatMoney(minor, posting.currency) : null),
  credit: ({ posting, minor }) => (minor < 0 ? formatMoney(-minor, posting.currency) : null),
  organization_id: ({ posting }) => posting.organization_id,
  customer: ({ posting }) => posting.customer && plainText(posting.customer, longest),
  invoice_id: ({ posting }) => posting.invoice_id,
  invoice_number: ({ posting }) => posting.number,
  description: ({ posting }) => plainText(posting.description, longest),
};
