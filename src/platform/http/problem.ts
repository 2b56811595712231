/** One thing wrong with a request. `rule` is the JSON Schema keyword that was broken: `required`, `type`, … */
export interface Problem {
  part: 'params' | 'query' | 'body';
  field: string;
  message: string;
  rule: string;
}
