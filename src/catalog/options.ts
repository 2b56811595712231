/** Values a customer chose, by option key. */
export type Options = Record<string, unknown>;
