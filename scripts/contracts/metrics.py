"""Metrics, one row per setting: ``results/metrics/{model}/{dataset}/{attack}.parquet``, and one
row per classifier in ``results/gates/{dataset}.parquet``. p-values are not adjusted here."""

import pyarrow as pa

from scripts.contracts.table import Contract

FPRS = (0.05, 0.01)

_f = pa.float64()
_s = pa.string()
_i = pa.int32()


def _tpr(fpr: float) -> list[pa.Field]:
    at = f"{fpr:g}"
    return [
        pa.field(f"tpr_at_{at}", _f),  # largest TPR over thresholds with FPR <= fpr
        pa.field(f"tpr_at_{at}_low", _f),  # bootstrap percentile interval
        pa.field(f"tpr_at_{at}_high", _f),
        pa.field(f"fpr_at_{at}", _f),  # the realised FPR
    ]


_evaluation = [
    pa.field("dataset", _s, nullable=False),
    pa.field("members", _i, nullable=False),
    pa.field("nonmembers", _i, nullable=False),
    pa.field("member_groups", _i, nullable=False),
    pa.field("nonmember_groups", _i, nullable=False),
    pa.field("grouping", _s, nullable=False),  # none, nested (in a class) or crossed
    pa.field("auc", _f, nullable=False),
    pa.field("auc_se", _f, nullable=False),  # DeLong, clustered where texts share a group
    pa.field("auc_low", _f, nullable=False),  # 95 % on the logit scale
    pa.field("auc_high", _f, nullable=False),
    pa.field("auc_se_bootstrap", _f, nullable=False),
    pa.field("z", _f, nullable=False),  # (auc - 0.5) / auc_se; infinite at 0 or 1
    pa.field("p", _f, nullable=False),  # two-sided, AUC = 0.5
    *(field for fpr in FPRS for field in _tpr(fpr)),
]

METRICS = Contract(
    kind="metrics",
    required=pa.schema(
        [
            pa.field("model", _s, nullable=False),
            pa.field("attack", _s, nullable=False),
            pa.field("setting", _s, nullable=False),
            *_evaluation,
            pa.field("unscored", _i, nullable=False),  # texts with the UNSCORED value
            # Paired differences on the same texts; null for Loss itself, or with no baseline.
            pa.field("over_loss", _f),
            pa.field("over_loss_se", _f),
            pa.field("over_loss_p", _f),
            pa.field("over_blind", _f),
            pa.field("over_blind_se", _f),
            pa.field("over_blind_p", _f),
        ]
    ),
    key=("setting",),
)

GATE = Contract(
    kind="gate",
    required=pa.schema(
        [
            pa.field("baseline", _s, nullable=False),
            pa.field("classifier", _s, nullable=False),
            *_evaluation,
            pa.field("learned_on", _s, nullable=False),  # aside or out-of-fold
            pa.field("inner_auc", _f, nullable=False),  # inner cross-validation, never on test
            pa.field("selection", _s, nullable=False),  # the best by: inner or (optimistic) test
            pa.field("chosen", pa.bool_(), nullable=False),  # the best of its baseline
            pa.field("best", pa.bool_(), nullable=False),  # the best of the dataset: the gate
            # One-sided, AUC > 0.5; null where refits would cost too much: out-of-fold and not best.
            pa.field("p_permutation", _f),
            pa.field("smallest_visible_auc", _f, nullable=False),  # 80 % power, one-sided 5 %
            pa.field("shift", pa.bool_(), nullable=False),  # this row declares a shift
        ]
    ),
    key=("baseline", "classifier"),
)
