"""What the rules of the lab read and depend on."""


def corpus_settings(wildcards):
    return settings(**LAB["corpora"][wildcards.corpus])


def order_corpus(wildcards):
    return f"<results>/corpora/{LAB['orders'][wildcards.order]['corpus']}.parquet"


def order_settings(wildcards):
    return settings(order=wildcards.order, seed=SEED, **LAB["orders"][wildcards.order])


def folders(wildcards, output):
    return list(dict.fromkeys(str(Path(path).parent) for path in output))
