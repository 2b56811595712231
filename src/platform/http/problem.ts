/** One thing wrong with a request. `rule` is the JSON Schema keyword that was broken: `required`, `type`, … */
export interface Problem {
  part: 'params' | 'query' | 'body';
  field: string;
  message: string;
  rule: string;
}

/** Nobody mends more of them at once than so many, and an answer that names all could be far larger than what was sent. */
export const mostProblems = 100;
