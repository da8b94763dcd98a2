"""Do a checkpoint's branches hold weights of their own? Some published branches do not.

In: hashes from the hub's listings; nothing is downloaded. Out: which branches were compared, as
JSON. UserError where the revision shares a weight file with another branch: it then is not the
checkpoint that its name says.

Settings: id, revision, checkpoints: names or globs of the branches to compare with. Without, these
are the final branch (main) and the siblings, revisions of the same repository in the registry.
"""

import json
import re
from collections.abc import Collection, Mapping
from fnmatch import fnmatchcase

from scripts.atomic import replacing
from scripts.cli import arguments, run
from scripts.errors import UserError
from scripts.hub.client import RemoteFile, Repo, branches, tree
from scripts.hub.files import is_pickle
from scripts.hub.pin import pin

FINAL = "main"
WEIGHTS = (".safetensors", ".bin", ".pt")


def main() -> None:
    """Compare one revision with its sibling branches."""
    args = arguments(__doc__, ["lock", "audit"], many=["siblings"])
    entry = args.settings
    repo, revision = Repo("model", entry["id"]), entry["revision"]
    commit = pin(args.lock, repo, revision)
    known = branches(repo)
    siblings = [str(name) for name in args.siblings]
    others = compared(known, revision, entry["checkpoints"], siblings)
    own = hashes(tree(repo, commit))
    for name in others:
        shared = same(own, hashes(tree(repo, known[name])))
        if shared:
            raise UserError(
                f"{repo}: its branches {revision} and {name} hold the same weights "
                f"({shared}, sha256 {own[shared][:12]}), so one of them is not the checkpoint that "
                "its name says; use another step, or another repository"
            )
    result = {
        "id": repo.id,
        "revision": revision,
        "commit": commit,
        "compared": {name: known[name] for name in others},
        "weights": own,
    }
    with replacing(args.audit) as temporary:
        temporary.write_text(json.dumps(result, indent=1, sort_keys=True) + "\n")


def compared(
    known: Mapping[str, str],
    revision: str,
    checkpoints: Collection[str] | None,
    siblings: Collection[str],
) -> list[str]:
    """The branches of `known` to compare `revision` with.

    The last step of a run may be the final branch, so these two are not compared.
    """
    wanted = [FINAL, *siblings] if checkpoints is None else checkpoints
    names = [
        name
        for name in sorted(known)
        if name != revision and any(fnmatchcase(name, pattern) for pattern in wanted)
    ]
    if revision == FINAL:
        return [name for name in names if not is_last(name, known)]
    return [name for name in names if name != FINAL or not is_last(revision, known)]


def is_last(name: str, known: Collection[str]) -> bool:
    """Whether no branch with the same kind of name counts further."""
    kind, step = _parts(name)
    return step is not None and all(step >= _parts(o)[1] for o in known if _parts(o)[0] == kind)


def _parts(name: str) -> tuple[str, int | None]:
    """`step400000-tokens1769B` is step 400000 of the kind `step`."""
    found = re.fullmatch(r"(\D*)(\d+).*", name)
    return (found[1], int(found[2])) if found else (name, None)


def hashes(files: Mapping[str, RemoteFile]) -> dict[str, str]:
    """The sha256 of the weight files that a model is read from: pickles only where there is no
    safetensors file.
    """
    found = {
        name: file.sha256
        for name, file in sorted(files.items())
        if file.sha256 and name.endswith(WEIGHTS) and "/" not in name
    }
    safe = {name: digest for name, digest in found.items() if not is_pickle(name)}
    return safe or found


def same(own: Mapping[str, str], other: Mapping[str, str]) -> str | None:
    """A weight file of `own` that `other` has, too, under whatever name."""
    theirs = set(other.values())
    return next((name for name, digest in own.items() if digest in theirs), None)


if __name__ == "__main__":
    run(main)
