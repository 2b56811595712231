/** What a parameter may be, in the words of the published schema. */
export interface Rule {
  type: 'string' | 'integer' | 'number' | 'boolean' | 'array';
  optional?: true;
  minimum?: number;
  maximum?: number;
  minLength?: number;
  maxLength?: number;
  pattern?: RegExp;
  enum?: readonly string[];
  /** Says what is wrong with a value of a format that has a name there; null: nothing. */
  format?: (value: string) => string | null;
}

export type Rules = Record<string, Rule>;
type Value = string | string[];

export const text = (more: Partial<Rule> = {}): Rule => ({ type: 'string', ...more });
export const whole = (minimum?: number, maximum?: number): Rule => ({
  type: 'integer',
  ...(minimum === undefined ? {} : { minimum }),
  ...(maximum === undefined ? {} : { maximum }),
});
export const number = (minimum?: number): Rule => ({
  type: 'number',
  ...(minimum === undefined ? {} : { minimum }),
});
export const yes: Rule = { type: 'boolean' };
export const list: Rule = { type: 'array' };
export const oneOf = (...values: string[]): Rule => ({ type: 'string', enum: values });
export const maybe = (rule: Rule): Rule => ({ ...rule, optional: true });

/** What is wrong with parameters, by their names, in the words of the engine. */
export function wrongIn(rules: Rules, parameters: Record<string, Value>): Record<string, string> {
  const wrong: Record<string, string> = {};
  for (const [name, value] of Object.entries(parameters)) {
    const rule = ruleOf(rules, name);
    const problem =
      rule === null
        ? 'property is not defined in schema and the schema does not allow additional properties'
        : problemWith(rule, value);
    if (problem !== null) wrong[name] = problem;
  }
  for (const [name, rule] of Object.entries(rules))
    if (!rule.optional && !(name in parameters)) wrong[name] = 'property is missing and it is not optional';
  return wrong;
}

/** `scsi[n]` is the rule of `scsi0`. */
function ruleOf(rules: Rules, name: string): Rule | null {
  return rules[name] ?? rules[name.replace(/\d+$/, '[n]')] ?? null;
}

function problemWith(rule: Rule, value: Value): string | null {
  if (rule.type === 'array') return Array.isArray(value) ? null : `type check ('array') failed`;
  if (Array.isArray(value)) return `type check ('${rule.type}') failed - got ARRAY`;
  if (rule.type === 'integer' && !/^[+-]?\d+$/.test(value))
    return `type check ('integer') failed - got '${value}'`;
  if (rule.type === 'number' && !/^[+-]?\d+(\.\d+)?$/.test(value))
    return `type check ('number') failed - got '${value}'`;
  if (rule.type === 'boolean')
    return /^(1|0|on|off|yes|no|true|false)$/.test(value)
      ? null
      : `type check ('boolean') failed - got '${value}'`;
  if (rule.minimum !== undefined && Number(value) < rule.minimum)
    return `value must have a minimum value of ${rule.minimum}`;
  if (rule.maximum !== undefined && Number(value) > rule.maximum)
    return `value must have a maximum value of ${rule.maximum}`;
  if (rule.maxLength !== undefined && value.length > rule.maxLength)
    return `value may only be ${rule.maxLength} characters long`;
  if (rule.minLength !== undefined && value.length < rule.minLength)
    return `value must be at least ${rule.minLength} characters long`;
  if (rule.pattern && !new RegExp(`^(?:${rule.pattern.source})$`, rule.pattern.flags).test(value))
    return 'value does not match the regex pattern';
  if (rule.enum && !rule.enum.includes(value))
    return `value '${value}' does not have a value in the enumeration '${rule.enum.join(', ')}'`;
  return rule.format?.(value) ?? null;
}

/** A property string, `file,size=1G`, by the rules of its parts; the first rule's name may be left out. */
export function properties(rules: Rules): Rule {
  return text({
    format: (value) => {
      const [first = ''] = Object.keys(rules);
      const parts: Record<string, string> = {};
      for (const part of value.split(',')) {
        const at = part.indexOf('=');
        const name = at < 0 ? first : part.slice(0, at);
        if (name in parts) return `duplicate key in comma-separated list property: ${name}`;
        parts[name] = at < 0 ? part : part.slice(at + 1);
      }
      const [wrong] = Object.entries(wrongIn(rules, parts));
      return wrong ? `invalid format - format error ${wrong[0]}: ${wrong[1]}` : null;
    },
  });
}
