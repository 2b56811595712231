/**
 * Ids in the examples of the description. They tell one story: Novak Labs orders a virtual server, pays and uses
 * it. Whoever tries the examples puts the ids of a story of their own in their place. Here are those that several rooms
 * speak of; what only one does has a number in its own `examples.ts`, of the same size and used for nothing else.
 */
export const exampleIds = {
  organization: 4503599627370101,
  user: 4503599627370102,
  sshKey: 4503599627370201,
  invoice: 4503599627370301,
  secondInvoice: 4503599627370302,
  service: 4503599627370401,
  secondService: 4503599627370402,
  stop: 4503599627370501,
} as const;

/** What a list says of its pages when there is only one. */
export function onlyPage(entries: number) {
  return { pages: 1, current_page: 1, entries, total: entries, next_cursor: null };
}
