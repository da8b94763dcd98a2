"""Gradient-boosted trees (XGBoost), which Tag&Tab's Table 5 and Figure 4 combine scores with.

The paper calls the classifier simple and gives no settings: here 100 trees of depth 3 with learning
rate 0.1, on one thread, since more would move the last bits.
"""

import numpy as np
from sklearn.pipeline import Pipeline, make_pipeline
from xgboost import XGBClassifier


class Boosted(XGBClassifier):
    """An XGBClassifier that scores by log-odds, which have fewer ties than probabilities."""

    def decision_function(self, matrix: np.ndarray) -> np.ndarray:
        """Log-odds of label 1: float64 (rows,)."""
        return self.predict(matrix, output_margin=True).astype(np.float64)


def pipeline(seed: int) -> Pipeline:
    """The classifier, not yet fitted; a score that is missing (NaN) takes a branch of its own."""
    return make_pipeline(
        Boosted(n_estimators=100, max_depth=3, learning_rate=0.1, n_jobs=1, random_state=seed)
    )
