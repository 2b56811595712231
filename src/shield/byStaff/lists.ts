import { addressLists, ofFamily } from '../presets/lists.ts';
import { presets } from '../presets/presets.ts';

/** The lists of addresses that ship with the product: of which day each is, how long, and which presets are made from it. */
export function listAddressLists() {
  return {
    address_lists: addressLists.map((list) => ({
      ...{ name: list.name, title: list.title, dated: list.dated, source: list.source },
      prefixes: { ipv4: ofFamily(list, 4).length, ipv6: ofFamily(list, 6).length },
      presets: presets.filter((preset) => preset.list === list).map(({ name }) => name),
    })),
  };
}
