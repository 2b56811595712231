import {
  addressText,
  holds,
  type Network,
  prefixText,
  readPrefix as readNetwork,
  wider as widerNetworks,
} from '../drivers/edge/index.ts';

/** A network as the edge knows it, and as text that everybody writes alike: `203.0.113.10/32`. */
export interface Prefix extends Network {
  text: string;
}

export { addressText as addressAt, holds };

/** A network or an address, with or without its length; what is wrong with it when it is neither, or has host bits. */
export function readPrefix(text: string): Prefix | string {
  const network = readNetwork(text);
  return typeof network === 'string' ? network : { ...network, text: prefixText(network) };
}

/** Of text that is one for certain, such as what the database has. */
export function prefixFrom(text: string): Prefix {
  const prefix = readPrefix(text);
  if (typeof prefix === 'string') throw new Error(`${text} ${prefix}`);
  return prefix;
}

/** An address of ours, as a network of its own. */
export function single(address: string): Prefix {
  return prefixFrom(address);
}

/** Every network that holds this one, itself included: what a rule for it may name as its destination. */
export function wider(network: Network): string[] {
  return widerNetworks(network).map(prefixText);
}

/** How many addresses it has. */
export function sizeOf({ first, last }: Network): bigint {
  return last - first + 1n;
}

/** `203.0.113.10`, of a network its first one. */
export function addressOf({ text }: Prefix): string {
  return text.slice(0, text.indexOf('/'));
}
