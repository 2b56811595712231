import { Type } from 'typebox';
import { OrganizationName } from '../../organizations/index.ts';
import {
  Choice,
  Day,
  Id,
  ListQuery,
  listOf,
  MoneyText,
  meaning,
  Nullable,
  named,
  SortBy,
  Strict,
  Timestamp,
} from '../../platform/http/index.ts';
import { TransferPart } from '../schema.ts';

const Count = Type.Integer({ minimum: 0 });

const BankStatement = named(
  'BankStatement',
  Type.Object({
    id: Id,
    account: Type.String({ description: 'IBAN, or what the bank calls the account' }),
    name: Type.String({ description: "The bank's name for it" }),
    created_at: Timestamp,
    entries: named(
      'BankEntryCounts',
      Type.Object({
        waiting: meaning('Not looked at yet', Count),
        booked: Count,
        proposed: meaning('Staff is asked whether the proposal is right', Count),
        open: meaning('Staff is asked whose it is', Count),
        dismissed: meaning("No customer's, as staff said", Count),
        outgoing: meaning('Money that went out; nothing is done about it', Count),
        known: meaning('Those that an earlier statement had brought; they are not counted again', Count),
      }),
      'How many entries of a statement are where',
    ),
  }),
  'What the bank said of an account',
);

const BankEntryState = named(
  'BankEntryState',
  Choice(['waiting', 'booked', 'proposed', 'open', 'outgoing', 'dismissed']),
  'What became of an entry: `proposed` and `open` wait for staff',
);

const BankEntry = named(
  'BankEntry',
  Type.Object({
    id: Id,
    direction: Choice(['in', 'out']),
    amount: MoneyText,
    currency: Type.String({ examples: ['EUR'] }),
    booked_on: Day,
    reference: Type.String({ description: "The bank's reference, under which it is booked" }),
    name: Nullable(Type.String({ description: 'Who paid, or was paid' })),
    iban: Nullable(Type.String()),
    text: Type.String({ description: 'What the payer wrote' }),
    reversal: meaning('The bank takes back an earlier entry with it', Type.Boolean()),
    state: BankEntryState,
    outcome: Nullable(Type.String({ description: 'Why it waits for staff, or what became of it' })),
    organization: Nullable(OrganizationName),
    proposals: Type.Array(
      named(
        'BankEntryProposal',
        Type.Object({
          organization: OrganizationName,
          invoice_ids: Type.Array(Id),
          because: Type.String(),
        }),
        'Whose an entry may be, and why',
      ),
    ),
    transfer_id: Nullable(Id),
  }),
  'One movement on an account',
);

export const BankStatementQuery = ListQuery({ sort: SortBy(['created_at'], '-created_at') });
export const BankStatementList = named('BankStatementList', listOf('statements', BankStatement));
export const BankStatementData = named('BankStatementAnswer', Type.Object({ statement: BankStatement }));
export const BankStatementsReceived = named(
  'BankStatementsReceived',
  Type.Object({ statements: Type.Array(BankStatement, { description: 'Those in the file' }) }),
);

export const BankEntryQuery = ListQuery({
  state: Type.Optional(BankEntryState),
  sort: SortBy(['ordinal'], 'ordinal'),
});
export const BankEntryList = named('BankEntryList', listOf('bank_entries', BankEntry));
export const BankEntryData = named('BankEntryAnswer', Type.Object({ entry: BankEntry }));

export const EntryParams = Strict({ id: Id, entry_id: Id });

export const BankEntryBooking = named(
  'BankEntryBooking',
  Strict({
    organization_id: Type.Optional(meaning('Default: the only one that is proposed', Id)),
    invoices: Type.Optional(
      Type.Array(TransferPart, {
        maxItems: 100,
        description:
          'What it pays, in this order. Default: the invoice that is proposed, or all that is due, the oldest first. ' +
          'With `[]` all of it becomes account credit',
      }),
    ),
  }),
);

export const BankEntryDismissal = named(
  'BankEntryDismissal',
  Strict({ reason: Type.String({ minLength: 1, maxLength: 200, description: 'Why it is no customer’s' }) }),
);
