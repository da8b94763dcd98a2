"""Bag of words or tokens: how often each frequent term comes in a text.

Source: the "BoW" rows of CheckMIABench's Table 1; word pairs as in Das et al. 2024 (2406.16201).
"""

from scripts.baselines.bags import FrequentTerms, counts

ON = ("text", "tokens")
features = counts


def steps() -> list:
    """What is learned between the features of a text and the classifier, per fold."""
    return [FrequentTerms()]
