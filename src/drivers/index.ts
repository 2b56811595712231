/**
 * The outside world behind contracts, one folder each: `hypervisor/` runs machines, `mail/` carries mails, `mailIn/` brings them in, `dns/`
 * names addresses, `payments/` takes money, `files/` keeps documents, `vat/` knows VAT ids, `edge/` filters packets, `bmc/` switches servers on and off, `switch/` knows what they are plugged into. This door gathers them
 * into the one object that steps get as `run.drivers` and live routes as `req.drivers`; `open.ts` opens it by the configuration and closes it again.
 */
import type { OpenBmc } from './bmc/index.ts';
import type { ReverseDns } from './dns/index.ts';
import type { BgpRouters, Edge } from './edge/index.ts';
import type { Files } from './files/index.ts';
import type { Clusters, HypervisorOf } from './hypervisor/index.ts';
import type { Mail } from './mail/index.ts';
import type { MailIn } from './mailIn/index.ts';
import type { OpenNetboot } from './netboot/index.ts';
import type { Payments } from './payments/index.ts';
import type { OpenSwitch } from './switch/index.ts';
import type { VatRegister } from './vat/index.ts';

declare module '../platform/drivers.ts' {
  interface Drivers {
    /** The hypervisor of a node, be it this host or a member of a cluster; `host_not_ready` when this process does not run that node. */
    hypervisor: HypervisorOf;
    /** The clusters that this process drives. */
    clusters: Clusters;
    mail: Mail;
    /** Brings mails in. */
    mailIn: MailIn;
    /** Names of addresses. */
    dns: ReverseDns;
    payments: Payments;
    /** What was made once and stays as it is. */
    files: Files;
    /** Whether anybody has a VAT id. */
    vat: VatRegister;
    /** The edge of a node; fails where this process does not run that node, or nothing filters there. */
    edge: (nodeId: number) => Edge;
    /** The routers that the process of a node speaks to by BGP; fails where it speaks to none. */
    routers: (nodeId: number) => BgpRouters;
    /** Opens the BMC of a server, by how it is reached; whoever opened it closes it. */
    bmc: OpenBmc;
    /** Which certificate a BMC presents that speaks Redfish, as SHA-256 in hexadecimal; `bmc_silent` where none does. Nothing of ours is told to it. */
    bmcCertificate: (address: string, port?: number) => Promise<string>;
    /** Whether a server greets by SSH at an address. */
    greets: (address: string) => Promise<boolean>;
    /** Opens what servers start from on a network of this host. */
    netboot: OpenNetboot;
    /** Opens a switch, by how it is reached; whoever opened it closes it. */
    switch: OpenSwitch;
  }
}

export { type GivenDrivers, type OpenDrivers, openDrivers, requireAll, type World } from './open.ts';
export { serially } from './serially.ts';
