"""The pass: what a model reads, in which batches, and the five statistics of each scored token."""
