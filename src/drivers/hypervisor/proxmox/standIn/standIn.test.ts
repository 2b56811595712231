import { describe, expect, it } from 'vitest';
import { calls } from './calls.testbed.ts';
import { wrongIn } from './rules.testbed.ts';
import { methods } from './schema.testbed.ts';

const wrong = (what: string, parameters: Record<string, string | string[]>) =>
  wrongIn(methods[what]?.parameters ?? {}, parameters);
const create = (more: Record<string, string>) =>
  wrong('POST /nodes/{node}/qemu', { node: 'n1', vmid: '9000', ...more });

describe('what stands in for Proxmox VE', () => {
  it('answers every call that it lets in, and no other', () => {
    const websocket = 'GET /nodes/{node}/qemu/{vmid}/vncwebsocket';
    expect([...Object.keys(calls), websocket].sort()).toEqual(Object.keys(methods).sort());
  });

  it.each<[Record<string, string>, RegExp]>([
    [{ vmid: '99' }, /minimum value of 100/],
    [{ vmid: 'abc' }, /type check \('integer'\)/],
    [{ node: 'n1.example' }, /node name/],
    [{ color: 'red' }, /not defined in schema/],
    [{ name: 'a_b' }, /DNS name/],
    [{ name: 'ends-' }, /DNS name/],
    [{ tags: 'a b!' }, /tag/],
    [{ cores: '0' }, /minimum value of 1/],
    [{ memory: '8' }, /current: value must have a minimum value of 16/],
    [{ ostype: 'linux' }, /enumeration/],
    [{ onboot: 'perhaps' }, /type check \('boolean'\)/],
    [{ serial0: 'pty' }, /regex pattern/],
    [{ net0: 'virtio=52:54:00:00:00:01,speed=7' }, /speed: property is not defined/],
    [{ net0: 'virtio=53:54:00:00:00:01' }, /unicast MAC/],
    [{ net0: 'bridge=vmbr0' }, /virtio: property is missing/],
    [{ scsi0: 'local-lvm:0,import-from=/etc/passwd' }, /import-from: .*volume/],
    [{ scsi0: 'local-lvm:0,local-lvm:1' }, /duplicate key/],
    [{ boot: 'order=scsi0,ide2' }, /legacy: value does not match/],
    [{ description: 'a'.repeat(8_193) }, /8192 characters/],
  ])('refuses a machine with %j', (parameters, message) => {
    expect(Object.values(create(parameters)).join('; ')).toMatch(message);
  });

  it('refuses a call that lacks a parameter, and lets one in that is right', () => {
    expect(wrong('POST /nodes/{node}/qemu', { node: 'n1' })).toEqual({
      vmid: 'property is missing and it is not optional',
    });
    expect(
      create({ name: 'test-1', net0: 'virtio=52:54:00:00:00:01,bridge=vmbr0,firewall=1,rate=12.5' }),
    ).toEqual({});
    const machine = '/nodes/{node}/qemu/{vmid}';
    const at = { node: 'n1', vmid: '9000' };
    expect(wrong(`PUT ${machine}/resize`, { ...at, disk: 'scsi31', size: '2G' })).toHaveProperty('disk');
    expect(wrong(`PUT ${machine}/resize`, { ...at, disk: 'scsi0', size: '2GiB' })).toHaveProperty('size');
    expect(wrong(`POST ${machine}/snapshot`, { ...at, snapname: '1st' })).toHaveProperty('snapname');
    expect(wrong(`POST ${machine}/agent/exec`, { ...at, command: 'sync' })).toHaveProperty('command');
    expect(
      wrong(`POST ${machine}/firewall/ipset/{name}`, { ...at, name: 'a1', cidr: '10.0.0.1/33' }),
    ).toHaveProperty('cidr');
  });
});
