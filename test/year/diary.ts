import type { Response } from '../client.ts';

/** What was done and answered, counted: a year in which nothing happens proves nothing. */
export class Diary {
  readonly counts = new Map<string, number>();
  /** What nobody expected to be refused. */
  readonly surprises: string[] = [];

  count(what: string): void {
    this.counts.set(what, (this.counts.get(what) ?? 0) + 1);
  }

  /** Whether it was done; one that is refused with another code than these is a surprise. */
  took(what: string, answer: Response, mayBe: readonly string[] = []): boolean {
    const { status, body } = answer;
    const isDone = status === 200;
    this.count(isDone ? what : `${what}: ${body?.code ?? status}`);
    if (!isDone && !mayBe.includes(body?.code))
      this.surprises.push(`${what}: ${status} ${JSON.stringify(body).slice(0, 400)}`);
    return isDone;
  }

  tell(): string {
    return [...this.counts]
      .toSorted(([one], [other]) => one.localeCompare(other))
      .map(([what, times]) => `${what}: ${times}`)
      .join(', ');
  }
}
