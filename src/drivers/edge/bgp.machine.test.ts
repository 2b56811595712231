import { setTimeout as sleep } from 'node:timers/promises';
import { actionOf, networkBytes } from './bgp/attributes.ts';
import { bgpEdge } from './bgp/driver.ts';
import { families } from './bgp/messages.ts';
import { routed } from './bgp/router.testbed.ts';
import { openRouters, withoutRouters } from './bgp/routers.testbed.ts';
import { speaker } from './bgp/speaker.ts';
import { describeEdge } from './conformance.ts';
import { parsePrefix } from './prefix.ts';

const guests = ['10.0.0.0/8', '2001:db8:7::/48'];

/** Routers filter, and not we: a packet meets what one of them would make of all that it has heard. */
describeEdge(
  'bgp',
  async () => {
    const routers = await openRouters({ listens: true });
    const edge = bgpEdge({
      ...{
        address: routers.address,
        prefixes: guests,
        blackholes: guests,
        nextHops: { 6: '2001:db8:99::1' },
      },
    });
    const [told, heard] = [routers.address, routers.listener ?? ''].map(speaker) as [
      ReturnType<typeof speaker>,
      ReturnType<typeof speaker>,
    ];
    const table = async (of: ReturnType<typeof speaker>) => {
      const kinds = [families.flow[4], families.flow[6], families.unicast[4], families.unicast[6]];
      const listed = await Promise.all(kinds.map((each) => of.list(each)));
      return listed.map((rows) =>
        rows
          .flatMap(({ paths }) => paths)
          .map(({ nlriBinary, pattrsBinary }) => ({ bytes: nlriBinary, action: actionOf(pattrsBinary) })),
      );
    };
    const texts = (rows: Awaited<ReturnType<typeof table>>) =>
      rows.map((each) => each.map(({ bytes, action }) => `${bytes.toString('hex')} ${action}`).toSorted());
    const arrived = async () => {
      for (;;) {
        const [wanted, found] = await Promise.all([table(told), table(heard)]);
        if (String(texts(wanted)) === String(texts(found))) return found;
        await sleep(20);
      }
    };
    const send = async (packets: Parameters<typeof routed>[1][]) => {
      const [four = [], six = [], ...unicast] = await arrived();
      const holes = unicast.flat().map(({ bytes }) => bytes.toString('hex'));
      return packets.map((packet) => {
        const isSwallowed = holes.includes(networkBytes(parsePrefix(packet.destination)).toString('hex'));
        return !isSwallowed && routed(packet.destination.includes(':') ? six : four, packet) === 'permit';
      });
    };
    return {
      edge,
      send: (packets) => send([...packets]),
      sendPaced: async () => {
        throw new Error('nothing is limited by routers');
      },
      async until(isSo) {
        while (!(await isSo())) await sleep(50);
      },
      async close() {
        for (const each of [edge, told, heard]) await each.close();
        await routers.close();
      },
    };
  },
  { skip: withoutRouters },
);
