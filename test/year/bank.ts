interface Incoming {
  organizationId: number;
  /** What its sender wrote. */
  text: string;
  invoiceId: number;
  minor: number;
  reference: string;
}

/** The company's account at its bank: what has come in, and what staff has not booked yet. */
export class Bank {
  readonly all: Incoming[] = [];
  #booked = 0;

  send(organizationId: number, text: string, invoiceId: number, minor: number): void {
    const reference = `BANK-${this.all.length + 1}`;
    this.all.push({ organizationId, text, invoiceId, minor, reference });
  }

  /** What came in since this was asked last. */
  fresh(): Incoming[] {
    const fresh = this.all.slice(this.#booked);
    this.#booked = this.all.length;
    return fresh;
  }
}
