"""TF-IDF of words within a dataset, as another way than entropy to pick keywords.

tf is how often the word stands in the sentence; idf = ln((1 + N) / (1 + n)) + 1, with N the number
of texts in the dataset and n how many of them have the word (scikit-learn's smooth default).
Tag&Tab, Table 3, compares with it and gives no formula.
"""

from collections import Counter
from collections.abc import Iterable, Sequence
from math import log


def texts_with(texts: Iterable[Iterable[str]]) -> Counter:
    """How many texts have each word."""
    return Counter(word for words in texts for word in set(words))


def weights(words: Sequence[str], found_in: Counter, texts: int) -> list[float]:
    """TF-IDF of each word of a sentence."""
    times = Counter(words)
    return [times[word] * (log((1 + texts) / (1 + found_in[word])) + 1) for word in words]
