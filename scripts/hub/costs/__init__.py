"""What models and datasets of each kind cost to fetch: a file per kind, `{model|dataset}_{source}`.

Each has a function `cost(name, entry, pins)`: the name and entry of the registry and the pins of
config/hub.lock.yaml in, a `scripts.hub.cost.Cost` out, without downloading anything. They are files
of their own, so that what a source reads does not depend on how it is estimated.
"""
