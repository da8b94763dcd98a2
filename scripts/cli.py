"""How every step talks to Snakemake: paths and one JSON of settings in, one clear line on error."""

import argparse
import errno
import json
import os
import signal
import sys
from collections.abc import Callable, Sequence
from pathlib import Path

from scripts.errors import UserError

ERROR = "pretrace: error: "  # what `make` and the Snakefile look for in a failed job's log


def arguments(
    description: str, one: Sequence[str], many: Sequence[str] = (), numbers: Sequence[str] = ()
) -> argparse.Namespace:
    """Parse the command line of a step.

    Each name in `one` is an option with one path, each in `many` one with any number of paths,
    each in `numbers` a whole number that may be left out. `--settings` is the JSON that the
    rule's `params.settings` holds.
    """
    parser = argparse.ArgumentParser(description=description.partition("\n")[0])
    for name in one:
        parser.add_argument(f"--{name}", type=Path, required=True)
    for name in many:
        parser.add_argument(f"--{name}", type=Path, nargs="*", default=[])
    for name in numbers:
        parser.add_argument(f"--{name}", type=int)
    parser.add_argument("--settings", type=json.loads, default={})
    parser.add_argument("--threads", type=int, default=1)
    return parser.parse_args()


def run(main: Callable[[], None]) -> None:
    """Run a step; what the user can mend becomes one line and exit code 1."""
    # A terminated job must still remove its temporary files.
    signal.signal(signal.SIGTERM, lambda *_: sys.exit(143))
    try:
        main()
    except KeyboardInterrupt:
        raise SystemExit(130) from None
    except UserError as error:
        message = " ".join(str(error).split())
    except OSError as error:
        if error.errno not in (errno.ENOSPC, errno.EDQUOT):
            raise
        message = (
            f"the disk is full (writing {error.filename or 'a file'} in {os.getcwd()}); "
            "free some space and run again: finished work is kept"
        )
    else:
        return
    print(f"{ERROR}{message}", file=sys.stderr, flush=True)
    raise SystemExit(1)
