/** The network that servers start from. */
export interface NetbootNetwork {
  /** The interface that servers are reached by, and our IPv4 address on it. */
  interface: string;
  address: string;
  prefix: number;
  /** What servers are told to send other packets to. */
  gateway: string;
  /** Addresses for those whom no reservation gives one; null: each reservation names its own. */
  range: { from: string; to: string } | null;
  /** Where iPXE fetches its script, without query. */
  script: string;
}

/** Folders and files that dnsmasq works with. */
export interface NetbootFiles {
  tftp: string;
  reservations: string;
  leases: string;
  pid: string;
}

/**
 * What dnsmasq is told. It answers only who is known by a reservation, which for a while may be everybody; firmware gets iPXE, over TFTP,
 * and iPXE gets its script, and that nobody else says what to start (175.176, its `no-pxedhcp`): it would wait three seconds for them. Names it
 * resolves none.
 */
export function configuration(network: NetbootNetwork, files: NetbootFiles): string {
  const { range: any } = network;
  const range = any
    ? `dhcp-range=${any.from},${any.to},${maskOf(network.prefix)},10m`
    : `dhcp-range=${network.address},static,${maskOf(network.prefix)},10m`;
  return `port=0
interface=${network.interface}
bind-interfaces
dhcp-authoritative
${range}
dhcp-ignore=tag:!known
dhcp-hostsdir=${files.reservations}
dhcp-option=option:router,${network.gateway}
dhcp-option=encap:175,176,1b
dhcp-userclass=set:ipxe,iPXE
dhcp-match=set:efi,option:client-arch,7
dhcp-match=set:efi,option:client-arch,9
dhcp-boot=tag:ipxe,${network.script}?mac=\${net0/mac}
dhcp-boot=tag:!ipxe,tag:efi,snponly.efi
dhcp-boot=tag:!ipxe,tag:!efi,undionly.kpxe
enable-tftp
tftp-root=${files.tftp}
dhcp-leasefile=${files.leases}
pid-file=${files.pid}
log-dhcp
log-facility=-
keep-in-foreground
user=root
`;
}

function maskOf(prefix: number): string {
  const bits = 0xffffffff << (32 - prefix);
  return [24, 16, 8, 0].map((shift) => (bits >>> shift) & 255).join('.');
}
