"""The files that a figure may draw from, found by the names in their paths."""

from collections.abc import Collection, Sequence
from dataclasses import dataclass
from pathlib import Path

import pyarrow as pa
import pyarrow.compute as pc

from scripts.contracts.texts import TEXTS
from scripts.errors import UserError
from scripts.publish.rows import Row


@dataclass(frozen=True)
class Results:
    """Metrics and gates as rows, and the files of scores and of texts."""

    metrics: Sequence[Row]
    gates: Sequence[Row]
    scores: Sequence[Path] = ()  # …/{model}/{pool or dataset}/{attack}.parquet
    texts: Sequence[Path] = ()  # …/{dataset}/{view}.parquet
    found: Sequence[Path] = ()  # of transfers

    def texts_of(self, dataset: str) -> Path:
        """The file of a dataset's texts."""
        for path in self.texts:
            if path.parent.name == dataset:
                return path
        raise ValueError(f"no texts of {dataset} among {len(self.texts)} files")

    def scores_of(self, model: str, places: Collection[str], attack: str) -> Path:
        """The file of an attack's scores on a pool, or of an ensemble's on a dataset: `places`."""
        for path in self.scores:
            names = path.parent.parent.name, path.stem
            if names == (model, attack) and path.parent.name in places:
                return path
        raise ValueError(f"no scores of {attack} for {model} on {' or '.join(places)}")

    def of_members(self, dataset: str, column: str) -> pa.ChunkedArray:
        """An optional column of the texts for the members of a dataset, where it is known."""
        path = self.texts_of(dataset)
        texts = TEXTS.read(path)
        if column not in texts.column_names:
            raise UserError(f"{path}: no column '{column}'; this figure needs to know it")
        return texts.filter(pc.equal(texts["label"], 1))[column].drop_null()
