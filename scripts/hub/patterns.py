"""Which files of a repository an entry names."""

import difflib
import fnmatch
from collections.abc import Collection, Sequence

from scripts.errors import UserError


def chosen(files: Collection[str], patterns: Sequence[str], where: str) -> list[list[str]]:
    """The files that each pattern (a path, or a glob) stands for, in the order of their names.

    Raises UserError for a pattern that stands for none; `where` names the repository.
    """
    return [_matching(files, pattern, where) for pattern in patterns]


def _matching(files: Collection[str], pattern: str, where: str) -> list[str]:
    # A path first: a name may hold what a glob reads as a class of characters.
    found = [pattern] if pattern in files else fnmatch.filter(sorted(files), pattern)
    if not found:
        near = difflib.get_close_matches(pattern, files, n=3) or sorted(files)[:5]
        raise UserError(
            f"{where}: no file {pattern}; mend `files` of the entry; it has {', '.join(near)}"
        )
    return found
