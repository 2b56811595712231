import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { type ClusterUnderTest, describeCluster } from '../clusterConformance.ts';
import { proxmoxCluster } from './driver.ts';
import { type ProxmoxBed, proxmoxBed, reasonWithoutGuests } from './testbed.ts';

async function twoNodes(network: number): Promise<ProxmoxBed> {
  const bed = await proxmoxBed(network);
  bed.state.nodes.push({ name: 'n2', isOnline: true, bridges: ['vmbr0'] });
  return bed;
}

async function underTest(): Promise<ClusterUnderTest> {
  const bed = await twoNodes(52);
  return {
    ...{ cluster: proxmoxCluster(bed.options), other: proxmoxCluster(bed.options), members: ['n1', 'n2'] },
    ...{ image: { slug: 'made', kind: 'build', recipe: 'made' }, identity: bed.identity, spec: bed.spec },
    ...{ readyTimeoutMs: 30_000, bootOf: null },
    nameOf: async ({ id }) => bed.vm(id)?.running?.guest.hostname ?? '',
    leftovers: async (spec) => [...(await bed.underTest().leftovers(spec)), ...bed.stand.refusedBySchema],
    remove: async () => bed.remove(),
  };
}

describeCluster('Proxmox VE', underTest, await reasonWithoutGuests());

describe('a machine that is moved', () => {
  let bed: ProxmoxBed;
  const open = () => proxmoxCluster(bed.options);
  let cluster: ReturnType<typeof open>;
  const id = () => bed.spec(1).id;
  const discs = () => [...bed.state.files.keys()].filter((key) => key.includes(`-${id()}-`));

  beforeEach(async () => {
    bed = await twoNodes(53);
    cluster = open();
    await cluster.ensureImage({ slug: 'made', kind: 'build', recipe: 'made' }, () => undefined);
    await cluster.on('n1').createDisk(bed.spec(1));
    await cluster.on('n1').writeIdentity(bed.spec(1), bed.identity);
  });
  afterEach(async () => {
    await cluster.close();
    bed.remove();
  });

  it('live has run since it was started, and reads from a disc of the node that has it', async () => {
    await cluster.on('n1').start(bed.spec(1));
    const before = await cluster.on('n1').inspect(id());
    await cluster.move(id(), 'n2', { live: true });
    const after = await cluster.on('n2').inspect(id());
    expect([after.node, after.power, after.startedAt]).toEqual(['n2', 'running', before.startedAt]);
    expect(discs()).toEqual([expect.stringMatching(/^n2 files:iso\/innkeeper-.*-secret-/)]);
    expect(bed.vm(id())?.settings.ide2).toContain(discs()[0]?.slice('n2 '.length));
  });

  it('stays where it is, with its disc, where the engine refuses, and says why', async () => {
    await cluster.on('n1').createSnapshot(id(), 'kept');
    await cluster.on('n1').start(bed.spec(1));
    await expect(cluster.move(id(), 'n2', { live: true })).rejects.toMatchObject({
      ...{ code: 'not_possible', permanent: true, message: expect.stringContaining('snapshots exist') },
    });
    expect(await cluster.list()).toMatchObject([{ node: 'n1', power: 'running' }]);
    expect(bed.vm(id())?.settings.ide2).toContain('-secret-');
    bed.state.nodes[1] = { name: 'n2', isOnline: false, bridges: [] };
    await expect(cluster.move(id(), 'n2', { live: true })).rejects.toMatchObject({ code: 'not_possible' });
  });

  it('arrives with its disc whichever call of it is lost, and the same call of another process goes on', async () => {
    for (const how of ['asked', 'answered'] as const) {
      for (let nth = 1; ; nth += 1) {
        let count = 0;
        bed.stand.meddle = (what, request, response) => {
          if (what.startsWith('GET ')) return false;
          count += 1;
          if (count !== nth) return false;
          if (how === 'answered') response.end = () => request.socket.destroy() as never;
          else request.socket.destroy();
          return how === 'asked';
        };
        const target = bed.vm(id())?.node === 'n1' ? 'n2' : 'n1';
        await cluster.move(id(), target, { live: false }).catch(() => undefined);
        bed.stand.meddle = null;
        const other = open();
        await other.move(id(), target, { live: false });
        expect(await other.list()).toMatchObject([{ node: target, power: 'stopped' }]);
        expect(bed.vm(id())?.settings.ide2, `${how} ${nth}`).toContain('-secret-');
        const disc = bed.vm(id())?.settings.ide2?.split(',')[0];
        expect(bed.state.files.has(`${target} ${disc}`)).toBe(true);
        await other.close();
        if (count < nth) break;
      }
    }
    await cluster.on('n1').destroy(id());
    expect(discs()).toEqual([]);
  });
});
