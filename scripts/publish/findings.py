"""What a study found: sentences and an overview that are computed from its metrics and gates."""

from collections.abc import Mapping, Sequence

from scripts.publish.families import ALPHA, adjusted, learned
from scripts.publish.rows import Row, family, first_of, shifts
from scripts.publish.sheet import Cell, Column, Line, Sheet
from scripts.publish.titles import Titles, interval, listed, probability, share

_COLUMNS = (
    Column("Dataset", number=False),
    Column("Best blind AUC"),
    Column("p"),
    Column("Model", number=False),
    Column("Loss AUC"),
    Column("95 % interval"),
    Column("Above 0.5"),
    Column("Above blind"),
    Column("Above Loss"),
)


def headlines(metrics: Sequence[Row], gates: Sequence[Row], titles: Titles) -> list[str]:
    """The findings in a few sentences, none of which looks at what is merely largest.

    Ensembles stay out: what they see, they were shown labels of.
    """
    rows = adjusted([row for row in metrics if not learned(row)])
    datasets = list(first_of(rows, "dataset"))
    gated = {row["dataset"] for row in gates}
    shifted = [name for name in datasets if name in shifts(gates)]
    clean = [name for name in datasets if name in gated and name not in shifted]
    sentences = []
    if clean:
        sentences.append(_above(rows, clean, "auc", "0.5", titles))
        sentences.append(_above(rows, clean, "over_blind", "the best blind baseline", titles))
    if shifted:
        sentences.append(_shifted(rows, shifted, gates, titles))
    ungated = [titles.dataset(name) for name in datasets if name not in gated]
    if ungated:
        sentences.append(
            f"No blind baseline was run on {listed(ungated)}: nothing says how much of what is "
            "seen there is a shift between the texts."
        )
    return sentences


def _above(
    rows: Sequence[Row], datasets: Sequence[str], value: str, what: str, titles: Titles
) -> str:
    families = {family(row) for row in rows if row["dataset"] in datasets}
    found = {family(row) for row in rows if row[f"{value}_verdict"] == "above"} & families
    places = []
    for dataset in datasets:
        tried, seen = (sum(name == dataset for _, name in of) for of in (families, found))
        if seen:
            places.append(f"{titles.dataset(dataset)}: {seen} of {tried} models")
    where = f" ({'; '.join(places)})" if places else ""
    return (
        f"Where no shift was seen, at least one setting is significantly above {what} in "
        f"{len(found)} of {len(families)} pairs of a model and a dataset{where}."
    )


def _shifted(
    rows: Sequence[Row], datasets: Sequence[str], gates: Sequence[Row], titles: Titles
) -> str:
    loss = [row["auc"] for row in rows if row["dataset"] in datasets and row["over_loss"] is None]
    blind = [row["auc"] for row in gates if row["best"] and row["dataset"] in datasets]
    attacks = f"Loss has AUC {_range(loss)} there, and " if loss else ""
    return (
        f"{listed([titles.dataset(name) for name in datasets])}: a shift was seen. {attacks}the "
        f"best blind baseline, which sees no model, has AUC {_range(blind)}. Numbers there do not "
        "measure membership."
    )


def _range(values: Sequence[float]) -> str:
    ends = dict.fromkeys([share(min(values)), share(max(values))])
    return " to ".join(ends)


def overview(
    metrics: Sequence[Row], gates: Sequence[Row], titles: Titles, notes: Mapping[str, str]
) -> Sheet:
    """One line per dataset and model: Loss, and how many settings are significantly above what."""
    rows = adjusted([row for row in metrics if not learned(row)])
    best = {row["dataset"]: row for row in gates if row["best"]}
    lines = []
    for dataset in first_of(rows, "dataset"):
        gate = best.get(dataset)
        leading = [Cell(titles.dataset(dataset)), *_gate(gate)]
        here = [row for row in rows if row["dataset"] == dataset]
        for model in first_of(here, "model"):
            counts = _counts([row for row in here if row["model"] == model])
            cells = [*leading, Cell(titles.model(model)), *counts]
            lines.append(Line(cells, shaded=gate is not None and gate["shift"]))
    named = [f"{titles.dataset(name)}: {notes[name]}" for name in best if name in notes]
    return Sheet(
        name="overview",
        title="All models and datasets",
        about="",
        columns=_COLUMNS,
        lines=lines,
        notes=[
            f"Above: settings that are significantly above, at {100 * ALPHA:g} % after Holm's "
            "correction over all settings of a model and dataset, of those tested. p: permutation, "
            "one-sided, of the blind baseline. Grey lines: a shift was seen, so the numbers do not "
            "measure membership.",
            *named,
        ],
        data=[],
        leading=3,
    )


def _gate(best: Row | None) -> list[Cell]:
    if best is None:
        return [Cell(), Cell()]
    return [Cell(share(best["auc"])), Cell(probability(best["p_permutation"]))]


def _counts(rows: Sequence[Row]) -> list[Cell]:
    loss = next((row for row in rows if row["over_loss"] is None), None)
    cells = [Cell(), Cell()]
    if loss is not None:
        cells = [Cell(share(loss["auc"])), Cell(interval(loss["auc_low"], loss["auc_high"]))]
    for value in ("auc", "over_blind", "over_loss"):
        tested = [row for row in rows if row[f"{value}_p_holm"] is not None]
        above = sum(row[f"{value}_verdict"] == "above" for row in tested)
        cells.append(Cell(f"{above} of {len(tested)}" if tested else "", strong=above > 0))
    return cells
