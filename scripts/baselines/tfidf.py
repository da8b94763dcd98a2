"""TF-IDF of words or tokens: counts weighted by rarity, rows of length 1.

Source: the "TFIDF" rows of CheckMIABench's Table 1; weights as scikit-learn's defaults,
tf (ln((1 + n) / (1 + df)) + 1), n and df of the rows that the classifier learns on.
"""

from sklearn.feature_extraction.text import TfidfTransformer

from scripts.baselines.bags import FrequentTerms, counts

ON = ("text", "tokens")
features = counts


def steps() -> list:
    """What is learned between the features of a text and the classifier, per fold."""
    return [FrequentTerms(), TfidfTransformer()]
