/** Where log lines go: an object with the facts, then a sentence. pino's methods fit. */
export interface Log {
  info(facts: object, message: string): void;
  warn(facts: object, message: string): void;
  error(facts: object, message: string): void;
}
