"""What a classifier learns from: labelled texts with their scores by several settings."""

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

import numpy as np
import pyarrow as pa

from scripts.baselines.learning import Rows
from scripts.contracts.scores import UNSCORED
from scripts.contracts.texts import TEXTS
from scripts.evaluation.inputs import read_scores, setting_names


@dataclass(frozen=True)
class Scored:
    """Texts of one dataset with scores by several settings, in the order of the texts."""

    ids: pa.ChunkedArray
    matrix: np.ndarray  # float64 [texts, settings], NaN where a text has no score
    labels: np.ndarray  # int [texts]: 1, 0, or -1 where unknown
    groups: np.ndarray  # names [texts]
    domains: np.ndarray | None  # names [texts], where the texts have them

    @property
    def known(self) -> np.ndarray:
        """Texts that can be learned from: with a label and a score, bool [texts]."""
        return (self.labels >= 0) & self.scored

    @property
    def scored(self) -> np.ndarray:
        """Texts with a score by any setting, bool [texts]."""
        return ~np.isnan(self.matrix).all(axis=1)

    def rows(self, kept: np.ndarray) -> Rows:
        """The texts `kept` (bool [texts]) as what scripts.baselines learns from."""
        return Rows(self.matrix[kept], self.labels[kept], self.groups[kept])


def read_scored(texts: Path, scores: Sequence[Path], settings: Sequence[str]) -> Scored:
    """The texts of a file with the columns `settings` of files of scores."""
    table = TEXTS.read(texts)
    held = {name: path for path in scores for name in setting_names(path)}
    columns = [read_scores(held[name], table["text_id"], [name])[0] for name in settings]
    matrix = np.array(columns).T
    return Scored(
        ids=table["text_id"],
        matrix=np.where(matrix == UNSCORED, np.nan, matrix),
        labels=table["label"].fill_null(-1).to_numpy().astype(int),
        groups=table["group"].to_numpy(),
        domains=table["domain"].to_numpy() if "domain" in table.column_names else None,
    )
