import { useQuery } from '@tanstack/react-query';
import { useParams } from '@tanstack/react-router';
import { useState } from 'react';
import type { Schema } from '../../../../client/index.ts';
import { session } from '../../data/queries/index.ts';
import { staffTicket } from '../../data/queries/staff/index.ts';
import { useText } from '../../text/index.ts';
import { Alert, Button, Page, Refusal, Stack, State, Thing } from '../../ui/index.ts';
import { Answer } from './Answer.tsx';
import { Customer } from './Customer.tsx';
import { Messages } from './Messages.tsx';
import { TicketActs } from './TicketActs.tsx';

type StaffTicket = Schema<'StaffTicket'>;

export function Ticket() {
  const { tid = '' } = useParams({ strict: false });
  return (
    <Thing title={tid} query={staffTicket({ tid })}>
      {({ ticket }) => <Shown ticket={ticket} />}
    </Thing>
  );
}

function Shown({ ticket }: { ticket: StaffTicket }) {
  const { t } = useText();
  const [before, setBefore] = useState<number | null>(null);
  const { data: mine } = useQuery(session);
  const others = ticket.writing.filter(({ id }) => id !== mine?.user.id);
  const earliest = ticket.messages[0]?.id;
  return (
    <Page title={ticket.subject} aside={<State of={ticket.status} />}>
      <TicketActs ticket={ticket} />
      <div className="side">
        <Stack gap="md">
          {before !== null && <Earlier tid={ticket.tid} before={before} onMore={setBefore} />}
          {before === null && ticket.earlier_messages > 0 && earliest !== undefined && (
            <Button variant="default" onClick={() => setBefore(earliest)}>
              {t('tickets.earlier', { count: ticket.earlier_messages })}
            </Button>
          )}
          <Messages messages={ticket.messages} />
          {others.length > 0 && (
            <Alert color="yellow" role="status">
              {t('support.writing', { names: others.map(({ name }) => name).join(', ') })}
            </Alert>
          )}
          <Answer ticket={ticket} />
        </Stack>
        <Customer ticket={ticket} />
      </div>
    </Page>
  );
}

function Earlier({ tid, before, onMore }: { tid: string; before: number; onMore: (id: number) => void }) {
  const { t } = useText();
  const read = useQuery(staffTicket({ tid }, { before }));
  const found = read.data?.ticket;
  const first = found?.messages[0]?.id;
  return (
    <>
      <Refusal error={read.error} onRetry={() => void read.refetch()} />
      {found !== undefined && found.earlier_messages > 0 && first !== undefined && (
        <Button variant="default" onClick={() => onMore(first)}>
          {t('tickets.earlier', { count: found.earlier_messages })}
        </Button>
      )}
      {found !== undefined && <Messages messages={found.messages} />}
    </>
  );
}
