"""
What every other file of rules uses: configuration, names, code versions, the way to call a step.

No pandas and no torch here: this file is read again in each cluster job.
"""

import atexit
import importlib
import json
import os
import re
import sys
from functools import cache
from pathlib import Path

from snakemake.exceptions import WorkflowError

# Not workflow.basedir: that is the importer's, where this is a module of another workflow.
ROOT = Path(str(workflow.current_basedir)).parent


def project(name):
    """Import a module of this checkout, even where the importing workflow has its own `scripts`."""
    ours = re.compile(r"scripts(\.|$)")
    others = {key: sys.modules.pop(key) for key in list(sys.modules) if ours.match(key)}
    sys.path.insert(0, str(ROOT))
    try:
        return importlib.import_module(name)
    finally:
        sys.path.remove(str(ROOT))
        for key in [key for key in sys.modules if ours.match(key)]:
            del sys.modules[key]
        sys.modules.update(others)


planning = project("scripts.planning.workflow")

try:
    REGISTRY, STUDIES = planning.load(ROOT, config)
    if Path(str(workflow.main_snakefile)).resolve().parent == ROOT.resolve():
        planning.check_targets(REGISTRY, STUDIES)  # not those of an importing workflow
except planning.UserError as error:
    # Once more when the process ends: Snakemake follows it with places in this file.
    atexit.register(planning.print_error, str(error))
    raise WorkflowError(str(error)) from None

SEED = REGISTRY.config["seed"]
LAB = REGISTRY.lab
RESULTS = planning.results(REGISTRY.config)
GPUS = planning.gpus(REGISTRY.config["device"])

planning.prepare(os.environ, REGISTRY.config["device"])


@cache
def code_hash(*modules):
    return planning.code_hash(ROOT, *modules)


def root(wildcards, input):
    """Where the steps are imported from; a function of input, so that moving the checkout reruns nothing."""
    return str(ROOT)


def step(module, options):
    """The shell command of a step: what it prints goes to the terminal and to the log."""
    return (
        f"PYTHONSAFEPATH=1 PYTHONPATH={{params.root:q}} python -m {module} {options} "
        "--settings {params.settings:q} --threads {threads} 2>&1 | tee {log:q}"
    )


def settings(**values):
    """One canonical string: Snakemake compares params as a set of values without their names."""
    return json.dumps(values, sort_keys=True, ensure_ascii=False)


def any_of(names):
    """A wildcard constraint that matches these names and nothing else."""
    return "|".join(re.escape(name) for name in names) or "(?!)"


wildcard_constraints:
    model=any_of(REGISTRY.models),
    dataset=any_of(REGISTRY.datasets),
    attack=any_of(REGISTRY.attacks),
    baseline=any_of(REGISTRY.baselines),
    ensemble=any_of(REGISTRY.ensembles),
    transfer=any_of(REGISTRY.transfers),
    inference=any_of(REGISTRY.inferences),
    comparison=any_of(REGISTRY.comparisons),
    study=any_of(STUDIES),


onerror:
    # Printed when the process ends, so that what the user can mend is the last line on the screen.
    atexit.register(planning.print_errors, log)
