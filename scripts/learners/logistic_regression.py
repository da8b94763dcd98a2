"""Logistic regression on standardised scores (L2, C = 1)."""

from sklearn.impute import SimpleImputer
from sklearn.linear_model import LogisticRegression
from sklearn.pipeline import Pipeline, make_pipeline
from sklearn.preprocessing import StandardScaler


def pipeline(seed: int) -> Pipeline:
    """The classifier, not yet fitted. It draws nothing, so `seed` does not matter.

    A score that is missing (NaN) is set to the median of those learned from.
    """
    return make_pipeline(
        SimpleImputer(strategy="median", keep_empty_features=True),
        StandardScaler(),
        LogisticRegression(max_iter=1000),
    )
