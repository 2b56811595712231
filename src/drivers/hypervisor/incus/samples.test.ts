import { expect, it } from 'vitest';
import { countersIn } from './samples.ts';

const of = (labels: string) => `${labels}project="innkeeper",type="virtual-machine"`;

it('counts each machine of the project, and nobody else’s', () => {
  const metrics = [
    '# HELP incus_cpu_seconds_total The total number of CPU time used in seconds.',
    `incus_cpu_seconds_total{cpu="0",mode="user",name="vps-1",${of('')}} 1.5`,
    `incus_cpu_seconds_total{cpu="1",mode="system",name="vps-1",${of('')}} 0.25`,
    `incus_cpu_seconds_total{cpu="0",mode="idle",name="vps-1",${of('')}} 900`,
    `incus_disk_read_bytes_total{device="a",name="vps-1",${of('')}} 1e+06`,
    `incus_disk_written_bytes_total{device="a",name="vps-1",${of('')}} 7`,
    `incus_network_receive_bytes_total{device="eth0",name="vps-1",${of('')}} 11`,
    `incus_network_receive_bytes_total{device="lo",name="vps-1",${of('')}} 500`,
    `incus_network_transmit_bytes_total{device="eth0",name="vps-1",${of('')}} 13`,
    `incus_memory_MemTotal_bytes{name="vps-1",${of('')}} 1000`,
    `incus_memory_MemAvailable_bytes{name="vps-1",${of('')}} 400`,
    'incus_disk_read_bytes_total{device="a",name="vps-1",project="other",type="virtual-machine"} 5',
  ].join('\n');
  expect(countersIn(metrics, 'innkeeper')).toEqual(
    new Map([
      [
        'vps-1',
        {
          ...{ cpuMs: 1_750, memoryUsedBytes: 600, memoryTotalBytes: 1_000 },
          ...{ diskReadBytes: 1e6, diskWrittenBytes: 7, netInBytes: 11, netOutBytes: 13 },
        },
      ],
    ]),
  );
});

it('takes a machine that holds more than its memory for full, which the engine writes as 2^64', () => {
  const metrics = [
    `incus_memory_MemTotal_bytes{name="vps-1",${of('')}} 1.00663296e+08`,
    `incus_memory_MemAvailable_bytes{name="vps-1",${of('')}} 1.8446744073534964e+19`,
  ].join('\n');
  expect(countersIn(metrics, 'innkeeper').get('vps-1')?.memoryUsedBytes).toBe(100_663_296);
});

it('is not led astray by names with quotes and line breaks, nor by what is no number', () => {
  const metrics = [
    `incus_disk_read_bytes_total{device="a\\"} 9\\n",name="vps-1",${of('')}} 3`,
    `incus_disk_read_bytes_total{device="a",name="vps\\n1",${of('')}} 3`,
    `incus_disk_read_bytes_total{device="b",name="vps-1",${of('')}} NaN`,
    `incus_disk_read_bytes_total{device="b",name="vps-1",${of('')}} -4`,
    'incus_disk_read_bytes_total{device="b",name="vps-1"',
  ].join('\n');
  const counted = countersIn(metrics, 'innkeeper');
  expect([...counted.keys()]).toEqual(['vps-1']);
  expect(counted.get('vps-1')?.diskReadBytes).toBe(3);
});

it('passes over a counter that nothing counts to, which no column would hold', () => {
  const metrics = [
    `incus_network_receive_bytes_total{device="eth0",name="vps-1",${of('')}} 1e300`,
    `incus_cpu_seconds_total{cpu="0",mode="user",name="vps-1",${of('')}} +Inf`,
    `incus_memory_MemTotal_bytes{name="vps-1",${of('')}} 1e30`,
    `incus_network_transmit_bytes_total{device="eth0",name="vps-1",${of('')}} 13`,
  ].join('\n');
  expect(countersIn(metrics, 'innkeeper').get('vps-1')).toMatchObject({
    ...{ cpuMs: 0, memoryTotalBytes: 0, netInBytes: 0, netOutBytes: 13 },
  });
});
