/** The shapes of Shield's requests and answers, by what they are about. */

export * from './schema/addresses.ts';
export * from './schema/apply.ts';
export * from './schema/attacks.ts';
export * from './schema/explain.ts';
export * from './schema/groups.ts';
export * from './schema/limiters.ts';
export * from './schema/rules.ts';
export * from './schema/sensitivity.ts';
export * from './schema/simulate.ts';
export * from './schema/token.ts';
export * from './schema/traffic.ts';
export { IpParams, PageQuery, RuleWords, SmallIdParams, warned } from './schema/words.ts';
