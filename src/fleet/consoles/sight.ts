import { type Ending, endings, type Sight, seatAt, type Ticket } from '../../consoles/index.ts';
import { type Context, causesOf } from '../../platform/index.ts';
import type { OpenServerLine } from './line.ts';

/** What viewers are told where a BMC opens no line, by the code of its failure. */
const whyNot: Readonly<Record<string, string>> = {
  bmc_silent: 'the controller of this server does not answer right now',
  not_supported: 'the controller of this server shows no serial line',
  serial_taken: 'the serial line of this server was needed elsewhere',
};
const noLine = 'this server has no console right now';

/**
 * The serial line of a server, as a ticket shows it. A BMC lets one in: whoever opens it sends the one before away, who is told. `mayLook` says whether
 * it may be looked at by whoever asked for the ticket.
 */
export function serverSight(
  ctx: Context,
  serverId: number,
  ticket: Ticket,
  openServer: OpenServerLine,
  mayLook: () => Promise<boolean>,
): Sight {
  const seat = seatAt(ctx, serverId, ticket);
  const leave = () =>
    void seat.leave().catch((error: Error) => {
      ctx.log.warn(
        { server: serverId, err: causesOf(error) },
        'a console was left, and is not written down so',
      );
    });
  const whyOver = async (): Promise<Ending | null> => {
    if (!(await mayLook())) return endings.accessEnded;
    return (await seat.isTaken()) ? endings.takenOver : null;
  };
  return {
    of: `server ${serverId}`,
    open: async () => {
      await seat.take();
      try {
        return (await openServer(serverId)).once('close', leave);
      } catch (error) {
        leave();
        throw error;
      }
    },
    whyOver,
    whyNone: async (error) => (await whyOver()) ?? endings.none(whyNot[codeOf(error)] ?? noLine),
    whyEnded: async (error) => {
      const over = await whyOver();
      if (over !== null) return over;
      const code = codeOf(error);
      if (code === 'serial_taken') return endings.takenOver;
      // Another process that opens it for us hears afterwards that there is none.
      const none = whyNot[code];
      return none === undefined ? endings.ended : endings.none(none);
    },
  };
}

function codeOf(error: unknown): string {
  const code = error instanceof Error && 'code' in error ? error.code : null;
  return typeof code === 'string' ? code : '';
}
