/** What the options of a VPS mean (contract §2): the one place that knows which number is which. */
export interface MachineSize {
  memoryMib: number;
  diskGib: number;
  cpuCores: number;
  ipv4Count: number;
  ipv6Count: number;
  image: string;
  portMbps: number;
  location: string;
}

const mibPerGib = 1024;
const mbpsByPort: Record<string, number> = { '1gbit': 1_000, '5gbit': 5_000, '10gbit': 10_000 };

/** Reads the options of an order whose options were checked against the product. */
export function machineSize(options: Record<string, unknown>): MachineSize {
  return {
    memoryMib: Number(options.option1) * mibPerGib,
    diskGib: Number(options.option2),
    cpuCores: Number(options.option3),
    ipv4Count: Number(options.option4),
    ipv6Count: Number(options.option5),
    image: String(options.option6),
    portMbps: mbpsByPort[String(options.option7)] ?? 1_000,
    location: String(options.option8),
  };
}
