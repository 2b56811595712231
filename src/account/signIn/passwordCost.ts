/** OWASP's first choice for argon2id; the default algorithm of the library. */
export const hashingCost = { memoryCost: 19_456, timeCost: 2, parallelism: 1 };

/** How much others come before a thread that gives way to them (`nice`): it has a tenth of their weight. */
export const lessUrgent = 10;
