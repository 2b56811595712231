/**
 * How servers start from the network: `dnsmasq` gives those that are known their address and iPXE over TFTP (`dnsmasq.ts`), and iPXE asks us
 * what to start (`handler.ts`). The network stands first in a server's boot order for ever, and the answer for one that is installed is "your
 * disk": so none installs itself twice, and a boot order that somebody broke is never the end.
 */
export type { NetbootNetwork } from './configuration.ts';
export { type Netboot, type NetbootOptions, type OpenNetboot, openNetboot } from './dnsmasq.ts';
export { type BootDesk, netbootHandler } from './handler.ts';
export { type OwnAddress, ownAddress } from './ownAddress.ts';
export { ensureBootPrograms } from './programs.ts';
export { type BootAnswer, type BootPlaces, bootScript } from './script.ts';
