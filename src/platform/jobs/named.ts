/** A job as those know it who ask for it and need not see its steps. */
export interface NamedJob<Payload extends object> {
  readonly name: string;
  /** Only for the type; never there. */
  readonly payload?: Payload;
}
