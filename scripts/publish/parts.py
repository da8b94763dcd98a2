"""Parts that several tables and the report share: rates, sizes, the remark on a shift."""

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence

from scripts.evaluation.roc import tpr_display
from scripts.publish.rows import Row, shifts
from scripts.publish.sheet import Cell
from scripts.publish.titles import Titles, interval, listed, share, versus

# Of a dataset: what a table or figure of attacks has to say.
UNGATED = (
    "No blind baseline judged it: nothing says how much of what is seen there is a shift between "
    "the texts."
)


# What an attack needs of a model (`access` of config/attacks.yaml).
NEEDS = {
    "top": "the largest log-prob of each token",
    "distribution": "the distribution over the vocabulary",
    "gradient": "gradients",
    "weights": "the weights",
    "generation": "sampled continuations",
    "ids": "prompts of token ids",
}


def not_available(lacking: Iterable[Mapping]) -> Iterator[str]:
    """A note on each model that does not give what some attacks need; nothing stands in for it."""
    for found in lacking:
        verb = "need" if len(found["attacks"]) > 1 else "needs"
        yield (
            f"Not available on {found['model']}: {listed(found['attacks'])}, which "
            f"{verb} {NEEDS[found['needs']]}."
        )


def rate(row: Row, fpr: float) -> tuple[Cell, Cell]:
    """TPR at FPR `fpr` and the realised FPR of a METRICS or GATE row.

    Both are blank where so few non-members would be false positives that the rate says nothing,
    and grey, with an interval, where they are few.
    """
    at = f"tpr_at_{fpr:g}"
    seen = tpr_display(row["nonmembers"], fpr)
    if seen == "blank" or row[at] is None:
        return Cell(), Cell()
    grey = seen == "grey"
    detail = interval(row[f"{at}_low"], row[f"{at}_high"]) if grey else ""
    return Cell(share(row[at]), detail, grey=grey), Cell(share(row[f"fpr_at_{fpr:g}"]), grey=grey)


def size(row: Row) -> str:
    """How many texts a METRICS or GATE row rests on, and in how many groups."""
    counts = []
    for label, name in (("member", "members"), ("nonmember", "non-members")):
        groups = row[f"{label}_groups"]
        within = f" in {groups:,} groups" if row["grouping"] != "none" else ""
        counts.append(f"{row[f'{label}s']:,} {name}{within}")
    return " and ".join(counts)


def remark(best: Row, titles: Titles) -> str:
    """The sentence that a dataset with a declared shift carries; `best` is its best baseline."""
    return (
        f"This dataset measures a shift: without any model {titles.baseline(best['baseline'])} "
        f"tells its classes apart (AUC {share(best['auc'])} "
        f"{interval(best['auc_low'], best['auc_high'])}, {versus(best['p_permutation'])})."
    )


def caveats(
    datasets: Iterable[str], gates: Sequence[Row], notes: Mapping[str, str], titles: Titles
) -> Iterator[str]:
    """A note on each dataset that has a shift, no gate, or a note of its own."""
    shifted, gated = shifts(gates), {row["dataset"] for row in gates}
    for name in dict.fromkeys(datasets):
        found = [remark(shifted[name], titles)] if name in shifted else []
        found += [] if name in gated else [UNGATED]
        found += [notes[name]] if name in notes else []
        if found:
            yield f"{titles.dataset(name)}: {' '.join(found)}"


def counts(rows: Iterable[Row], column: str, of: Callable[[Row], str]) -> str:
    """The counts in `column` by what `of` calls their rows, as text; empty where all are 0."""
    groups: dict[str, list[int]] = {}
    for row in rows:
        groups.setdefault(of(row), []).append(row[column])
    return listed(
        [
            " to ".join(dict.fromkeys(f"{count:,}" for count in (min(found), max(found))))
            + f" for {title}"
            for title, found in groups.items()
            if max(found)
        ]
    )


def cut(rows: Iterable[Row], titles: Titles) -> Iterator[str]:
    """A note on the texts that passes cut, from rows with `model` and `truncated`."""
    truncated = counts(rows, "truncated", lambda row: titles.model(row["model"]))
    if truncated:
        yield f"Of all texts scored, cut to the model's context: {truncated}."
