"""A Sheet as CSV, LaTeX, Markdown and HTML: the same bytes for the same sheet."""

import csv
import html
import io
import re

from scripts.publish.sheet import Cell, Sheet

_TEX = {
    "\\": r"\textbackslash{}",
    "~": r"\textasciitilde{}",
    "^": r"\textasciicircum{}",
    "<": "$<$",
    ">": "$>$",
    "−": "$-$",
    "≤": r"$\leq$",
    "×": r"$\times$",
    "↑": r"$\uparrow$",
    "↓": r"$\downarrow$",
    "‡": r"\ddag{}",
    "†": r"\dag{}",
    "–": "--",
    "“": "``",
    "”": "''",
    "’": "'",
    "\N{NO-BREAK SPACE}": "~",
} | {character: f"\\{character}" for character in "&%$#_{}"}
_TEX_PATTERN = re.compile("|".join(map(re.escape, _TEX)))


def to_csv(sheet: Sheet) -> str:
    """Tidy data in full precision, one header line, empty where there is no value."""
    out = io.StringIO()
    columns = list(dict.fromkeys(name for row in sheet.data for name in row))
    writer = csv.DictWriter(out, columns, lineterminator="\n")
    writer.writeheader()
    writer.writerows(sheet.data)
    return out.getvalue()


def to_markdown(sheet: Sheet) -> str:
    """A pipe table, padded so that it reads as plain text too, with title and notes."""
    header = [_markdown_cell(Cell(column.title)) for column in sheet.columns]
    body = [[_markdown_cell(cell) for cell in sheet.cells(i)] for i in range(len(sheet.lines))]
    widths = [max(3, *(len(row[i]) for row in [header, *body])) for i in range(len(header))]

    def line(texts: list[str]) -> str:
        padded = (
            text.rjust(width) if column.number else text.ljust(width)
            for text, width, column in zip(texts, widths, sheet.columns, strict=True)
        )
        return f"| {' | '.join(padded)} |"

    rule = [
        "-" * (width - 1) + ":" if column.number else "-" * width
        for width, column in zip(widths, sheet.columns, strict=True)
    ]
    parts = [f"**{sheet.title}**"]
    parts += [sheet.about] if sheet.about else []
    parts += ["\n".join([line(header), line(rule), *map(line, body)])]
    parts += ["\n".join(f"* {note}" for note in sheet.notes)] if sheet.notes else []
    return "\n\n".join(parts) + "\n"


def _markdown_cell(cell: Cell) -> str:
    text = _joined(cell).replace("|", r"\|")
    return f"**{text}**" if cell.strong else text


def to_tex(sheet: Sheet) -> str:
    """A table float with booktabs; needs the packages booktabs and xcolor."""
    columns = "".join("r" if column.number else "l" for column in sheet.columns)
    lines = [
        r"% \usepackage{booktabs,xcolor}",
        r"\begin{table}",
        r"\centering\small",
        rf"\caption{{{tex(' '.join(filter(None, [_sentence(sheet.title), sheet.about])))}}}",
        rf"\label{{tab:{sheet.name}}}",
        rf"\begin{{tabular}}{{{columns}}}",
        r"\toprule",
        " & ".join(tex(column.title) for column in sheet.columns) + r" \\",
        r"\midrule",
    ]
    for index in range(len(sheet.lines)):
        if index and sheet.starts(index):
            lines.append(r"\addlinespace")
        lines.append(" & ".join(map(_tex_cell, sheet.cells(index))) + r" \\")
    lines += [r"\bottomrule", r"\end{tabular}"]
    if sheet.notes:
        lines += ["", r"\medskip", r"\begin{minipage}{\linewidth}\footnotesize"]
        lines += [tex(note) + r"\par" for note in sheet.notes]
        lines += [r"\end{minipage}"]
    return "\n".join([*lines, r"\end{table}", ""])


def tex(text: str) -> str:
    """Text with LaTeX's special characters escaped."""
    return _TEX_PATTERN.sub(lambda match: _TEX[match[0]], text)


def _tex_cell(cell: Cell) -> str:
    text = tex(_joined(cell))
    if cell.grey:
        text = rf"\textcolor{{gray}}{{{text}}}"
    return rf"\textbf{{{text}}}" if cell.strong else text


def to_html(sheet: Sheet) -> str:
    """A fragment: the table and its notes, with class names and no style of its own."""
    out = ['<div class="sheet">', "<table>"]
    about = f" <span>{html.escape(sheet.about)}</span>" if sheet.about else ""
    out.append(f"<caption><strong>{html.escape(sheet.title)}</strong>{about}</caption>")
    out.append("<thead><tr>")
    out += [
        f"<th{_class(['number'] if column.number else [])}>{html.escape(column.title)}</th>"
        for column in sheet.columns
    ]
    out.append("</tr></thead>\n<tbody>")
    for index, line in enumerate(sheet.lines):
        names = ["first"] if sheet.starts(index) else []
        names += ["shaded"] if line.shaded else []
        cells = "".join(
            _html_cell(cell, column.number)
            for cell, column in zip(sheet.cells(index), sheet.columns, strict=True)
        )
        out.append(f"<tr{_class(names)}>{cells}</tr>")
    out.append("</tbody></table>")
    if sheet.notes:
        out.append('<ul class="notes">')
        out += [f"<li>{html.escape(note)}</li>" for note in sheet.notes]
        out.append("</ul>")
    return "\n".join([*out, "</div>", ""])


def _html_cell(cell: Cell, number: bool) -> str:
    names = [
        *(["number"] if number else []),
        *(["grey"] if cell.grey else []),
    ]
    text = html.escape(cell.text)
    text = f"<strong>{text}</strong>" if cell.strong else text
    detail = f' <span class="detail">{html.escape(cell.detail)}</span>' if cell.detail else ""
    return f"<td{_class(names)}>{text}{detail}</td>"


def _class(names: list[str]) -> str:
    return f' class="{" ".join(names)}"' if names else ""


def _joined(cell: Cell) -> str:
    return f"{cell.text} {cell.detail}".strip()


def _sentence(text: str) -> str:
    return text if text.endswith((".", "?", "!")) else text + "."
