"""AUC, TPR at FPR, their intervals and tests: pure functions on labels, scores and groups."""
