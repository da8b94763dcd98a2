"""What Snakemake needs while it parses: configuration, registries, studies, code hashes."""
