"""Where a model folder comes from."""

import json
from pathlib import Path


def origin(folder: Path) -> dict[str, dict[str, str]]:
    """{"hub": {id, revision, commit}} for a folder that was fetched from the hub, {"gguf": {file,
    sha256}} for one that stands for a GGUF file, else nothing."""
    for kind, keys in (("hub", ("id", "revision", "commit")), ("gguf", ("file", "sha256"))):
        record = folder / f"{kind}.json"
        if record.is_file():
            content = json.loads(record.read_bytes())
            return {kind: {key: content[key] for key in keys}}
    return {}
