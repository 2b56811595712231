-- What the engine of a node can do; null until it has started with a version that tells, and then nothing is refused.
alter table nodes add column capabilities text[];
