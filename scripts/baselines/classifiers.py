"""The classifiers of the blind baselines, as CheckMIABench's appendix gives them."""

import warnings
from collections.abc import Sequence

import numpy as np
from scipy.sparse import csr_matrix
from sklearn.base import clone
from sklearn.ensemble import RandomForestClassifier
from sklearn.exceptions import ConvergenceWarning
from sklearn.linear_model import LogisticRegression
from sklearn.metrics import roc_auc_score
from sklearn.neural_network import MLPClassifier
from sklearn.pipeline import Pipeline, make_pipeline
from sklearn.preprocessing import FunctionTransformer

Matrix = csr_matrix | np.ndarray
Splits = Sequence[tuple[np.ndarray, np.ndarray]]  # rows to learn on, rows to judge


def _single(matrix: Matrix) -> Matrix:
    return matrix.astype(np.float32)


def pipeline(classifier: str, steps: Sequence, seed: int) -> Pipeline:
    """`steps`, then `classifier`, not yet fitted; `seed` (under 2**32) decides its draws.

    Logistic regression: L2 (C = 1), lbfgs, at most 1,000 iterations. Random forest: 100 trees of
    any depth, Gini. MLP: 250-100-10-1, ReLU, Adam at 0.001, batches of 128, 10 epochs, in float32
    (a third faster than float64). One thread each: more would move the last bits of a forest.
    """
    match classifier:
        case "logistic_regression":
            model = [LogisticRegression(solver="lbfgs", max_iter=1000)]
        case "random_forest":
            model = [RandomForestClassifier(n_estimators=100, criterion="gini", random_state=seed)]
        case "mlp":
            network = MLPClassifier(
                hidden_layer_sizes=(250, 100, 10),
                alpha=0,
                batch_size=128,
                max_iter=10,
                n_iter_no_change=10,
                random_state=seed,
            )
            model = [FunctionTransformer(_single, accept_sparse=True), network]
        case _:
            raise ValueError(f"no classifier {classifier}")
    return make_pipeline(*steps, *model)


def fitted(unfitted: Pipeline, matrix: Matrix, labels: np.ndarray) -> Pipeline:
    """A fitted copy of `unfitted`."""
    with warnings.catch_warnings():
        # Ten epochs and 1,000 iterations are what was asked for, converged or not; few rows make
        # a smaller batch.
        warnings.filterwarnings("ignore", category=ConvergenceWarning)
        warnings.filterwarnings("ignore", message="Got `batch_size` less than 1 or larger than")
        return clone(unfitted).fit(matrix, labels)


def scores(learned: Pipeline, matrix: Matrix) -> np.ndarray:
    """Scores (rows,), higher = label 1: log-odds of a logistic regression, else probabilities."""
    if hasattr(learned, "decision_function"):
        return learned.decision_function(matrix)
    return learned.predict_proba(matrix)[:, 1].astype(np.float64)


def out_of_fold(
    unfitted: Pipeline, matrix: Matrix, labels: np.ndarray, splits: Splits
) -> np.ndarray:
    """Scores (rows,), each from a fit on the other folds; `splits` judges every row once."""
    judged = np.full(len(labels), np.nan)
    for learn, judge in splits:
        learned = fitted(unfitted, matrix[learn], labels[learn])
        judged[judge] = scores(learned, matrix[judge])
    return judged


def mean_auc(unfitted: Pipeline, matrix: Matrix, labels: np.ndarray, splits: Splits) -> float:
    """Mean AUC of the folds that hold both classes.

    Not the AUC of all rows together: scores of different fits are not on one scale, which pulls it
    below 0.5 where there is nothing to learn. 0.5 where no fold holds both classes.
    """
    aucs = []
    for learn, judge in splits:
        if np.ptp(labels[judge]) > 0:
            learned = fitted(unfitted, matrix[learn], labels[learn])
            aucs.append(roc_auc_score(labels[judge], scores(learned, matrix[judge])))
    return float(np.mean(aucs)) if aucs else 0.5
