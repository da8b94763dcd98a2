"""What decides the bytes of a pass, as one digest: finished parts are kept under it."""

import hashlib
import json
from collections.abc import Mapping
from pathlib import Path

import torch
import transformers

ROOT = Path(__file__).resolve().parents[1]


def digest(model: list[Path], texts: Path, facts: Mapping[str, object], step: Path) -> str:
    """A hex digest of the weights, the texts, `facts` (JSON values), the code and its libraries.

    The code is that of the file `step` and of the folders that every pass is made of.

    Weights count by name, size and time, not content: reading 24 GB to hash them would cost more
    than a part.
    """
    state = {
        "model": [(path.name, path.stat().st_size, path.stat().st_mtime_ns) for path in model],
        "texts": _sha256(texts),
        "facts": dict(facts),
        "code": {str(path.relative_to(ROOT)): _sha256(path) for path in _code(step)},
        "versions": [torch.__version__, transformers.__version__],
    }
    return hashlib.sha256(json.dumps(state, sort_keys=True).encode()).hexdigest()


def _code(step: Path) -> list[Path]:
    folders = (ROOT / "extraction", ROOT / "models")
    return sorted([step.resolve(), *(p for folder in folders for p in folder.glob("*.py"))])


def _sha256(path: Path) -> str:
    with path.open("rb") as file:
        return hashlib.file_digest(file, "sha256").hexdigest()
