"""A table as a person reads it, before it becomes LaTeX, Markdown or HTML."""

from collections.abc import Callable, Collection, Mapping, Sequence
from dataclasses import dataclass, field

from scripts.publish.rows import Row


@dataclass(frozen=True)
class Cell:
    """One cell: `detail` is secondary (an interval), `strong` significant, `grey` uncertain."""

    text: str = ""
    detail: str = ""
    strong: bool = False
    grey: bool = False


@dataclass(frozen=True)
class Column:
    """A column; numbers are aligned to the right."""

    title: str
    number: bool = True


@dataclass(frozen=True)
class Line:
    """One row; `shaded` where the numbers cannot be read as membership."""

    cells: Sequence[Cell]
    shaded: bool = False


@dataclass(frozen=True)
class Sheet:
    """A table: what is read (`lines`, `notes`) and, in full precision, the tidy `data` behind it.

    The first `leading` columns name what a row is about. `about` says what all rows share.
    """

    name: str
    title: str
    about: str
    columns: Sequence[Column]
    lines: Sequence[Line]
    notes: Sequence[str]
    data: Sequence[Row] = field(repr=False)
    leading: int = 0

    def starts(self, index: int) -> bool:
        """Whether line `index` begins a new group: its first column differs from the line above."""
        if index == 0 or self.leading == 0:
            return index == 0
        return self.lines[index].cells[0] != self.lines[index - 1].cells[0]

    def cells(self, index: int) -> list[Cell]:
        """The cells of line `index`; leading cells that repeat the line above are empty."""
        cells = list(self.lines[index].cells)
        if index:
            above = self.lines[index - 1].cells
            for column in range(self.leading):
                if cells[column] != above[column]:
                    break
                cells[column] = Cell()
        return cells


def _split_leading(
    rows: Sequence[Row], leading: Mapping[str, Callable[[Row], str]]
) -> tuple[dict[str, Callable[[Row], str]], str]:
    """The leading columns whose text differs between rows, and a sentence on the others."""
    texts = {key: {title(row) for row in rows} for key, title in leading.items()}
    varying = {key: title for key, title in leading.items() if len(texts[key]) > 1}
    shared = [f"{key}: {min(found)}." for key, found in texts.items() if len(found) == 1]
    return varying, " ".join(shared)


def sheet_of(
    settings: Mapping,
    rows: Sequence[Row],
    leading: Mapping[str, Callable[[Row], str]],
    columns: Sequence[Column],
    cells: Callable[[Row], Sequence[Cell]],
    notes: Sequence[str],
    shaded: Collection[str] = (),
    data: Sequence[Row] | None = None,
) -> Sheet:
    """The sheet called ``settings.name`` with a line per row.

    A line is those of the `leading` texts that differ between rows, then `cells` under `columns`,
    shaded where its dataset is one of `shaded`. `data` (the rows themselves) is the tidy form.
    """
    leading, about = _split_leading(rows, leading)
    return Sheet(
        name=settings["name"],
        title=settings["title"],
        about=about,
        columns=[*(Column(title, number=False) for title in leading), *columns],
        lines=[
            Line(
                [*(Cell(title(row)) for title in leading.values()), *cells(row)],
                shaded=row.get("dataset") in shaded,
            )
            for row in rows
        ],
        notes=notes,
        data=rows if data is None else data,
        leading=len(leading),
    )
