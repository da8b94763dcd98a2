"""Bags of words or tokens: counts of all terms, and the choice of frequent ones in a fold."""

import numpy as np
import pyarrow as pa
from scipy.sparse import csr_matrix
from sklearn.base import BaseEstimator, TransformerMixin
from sklearn.feature_extraction.text import CountVectorizer

from scripts.errors import UserError

MIN_TEXTS = 2  # a term of one text tells nothing about another one
NO_TERMS = (
    "no word or token stands in two of the texts that a blind baseline learns on: give it more "
    "texts, or other baselines (`baselines` in the dataset's entry; [] for none)"
)
MAX_TERMS = 5_000  # bounds the first layer of the MLP; at 10,000 nothing moved by 0.003 of AUC


def counts(texts: pa.Table, on: str) -> csr_matrix:
    """How often each term comes in each text: (texts, terms), float64.

    Terms are words and pairs of adjacent words of the `text` (lower-cased; scikit-learn's default
    pattern, two or more letters or digits), or the `token_ids`. Terms in fewer than `MIN_TEXTS` of
    all texts are left out: no fold of them could use one, and it bounds the memory.
    """
    if on == "tokens":
        lists = texts["token_ids"].combine_chunks()
        lengths = lists.value_lengths().to_numpy(zero_copy_only=False)
        tokens = lists.flatten().to_numpy()
        bag = csr_matrix(
            (np.ones(len(tokens)), (np.repeat(np.arange(len(lengths)), lengths), tokens)),
            shape=(len(lengths), int(tokens.max(initial=0)) + 1),
        )
        return bag[:, np.flatnonzero(bag.getnnz(axis=0) >= MIN_TEXTS)]
    words = CountVectorizer(ngram_range=(1, 2), min_df=MIN_TEXTS, dtype=np.float64)
    try:
        return words.fit_transform(texts["text"].to_pylist())
    except ValueError:  # its way to say that no term is left
        raise UserError(NO_TERMS) from None


class FrequentTerms(TransformerMixin, BaseEstimator):
    """Keep the terms that most texts have: at least `MIN_TEXTS`, at most `MAX_TERMS` terms.

    Learned on the rows that a classifier learns on, like everything behind `counts`.
    """

    def fit(self, bag: csr_matrix, labels: object = None) -> "FrequentTerms":
        """Choose columns of `bag` (texts, terms); ties go to the earlier column."""
        texts = bag.getnnz(axis=0)
        order = np.argsort(-texts, kind="stable")[:MAX_TERMS]
        self.terms_ = np.sort(order[texts[order] >= MIN_TEXTS])
        if not len(self.terms_):
            raise UserError(NO_TERMS)
        return self

    def transform(self, bag: csr_matrix) -> csr_matrix:
        """The chosen columns."""
        return bag[:, self.terms_]
