/** First key of the advisory locks that workers share while they serve a node; the second is the node's id. */
export const servedClass = 741_103;
