"""Small datasets on a local hub in the shapes of the published ones, for tests."""

import csv
import json
from pathlib import Path

import pyarrow as pa
import pyarrow.parquet as pq

from tests.hub import Hub

NEIGHBOURS = "_neighbors_25_bert_in_place_swap.jsonl"


def sentence(name: str, number: int) -> str:
    """A text of its own, with ASCII letters only."""
    return f"Text {number} of the {name} says something about {number * 7} things of its own."


def write_lines(path: Path, values: list) -> None:
    """One JSON value a line."""
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text("".join(json.dumps(value) + "\n" for value in values))


def write_parquet(path: Path, **columns: list) -> None:
    """Columns as Parquet."""
    path.parent.mkdir(parents=True, exist_ok=True)
    pq.write_table(pa.table(columns), path)


def mimir(hub: Hub, part: str = "arxiv_ngram_13_0.8", rows: int = 20, neighbours: int = 3) -> None:
    """Bare strings a line, members in train/ and non-members in test/; neighbours as lists."""
    folder = hub.revision("datasets", "iamgroot42/mimir") / "cache_100_200_1000_512"
    for split in ("train", "test"):
        texts = [sentence(split, number) for number in range(rows)]
        write_lines(folder / split / f"{part}.jsonl", texts)
        lists = [[f"{text} {n}" for n in range(neighbours)] for text in texts]
        write_lines(folder / f"{split}_neighbors" / f"{part}{NEIGHBOURS}", lists)


def wikimia(hub: Hub, rows: int = 12, neighbours: int = 2) -> None:
    """Parquet with `input` and `label`; neighbours in blocks, in a repository of their own."""
    texts = [sentence("page", number) for number in range(rows)]
    labels = [number % 2 for number in range(rows)]
    folder = hub.revision("datasets", "swj0419/WikiMIA") / "data"
    write_parquet(folder / "WikiMIA_length32-00000-of-00001-6d.parquet", input=texts, label=labels)
    folder = hub.revision("datasets", "zjysteven/WikiMIA_paraphrased_perturbed") / "data"
    write_parquet(
        folder / "WikiMIA_length32_perturbed-00000-of-00001.parquet",
        input=[f"{text} {n}" for text in texts for n in range(neighbours)],
        label=[label for label in labels for _ in range(neighbours)],
    )


def bookmia(hub: Hub, titles: list[str], snippets: int = 3) -> None:
    """JSONL with titles as `book`; the first half of them members."""
    rows = [
        {"book_id": b, "book": title, "snippet_id": s, "snippet": sentence(title, s)}
        | {"label": int(b < len(titles) / 2)}
        for b, title in enumerate(titles)
        for s in range(snippets)
    ]
    write_lines(hub.revision("datasets", "swj0419/BookMIA") / "book_data.jsonl", rows)


def arxivtection(hub: Hub) -> None:
    """CSV with a byte-order mark; the column of the verbatim excerpt is named by `Answer`."""
    path = hub.revision("datasets", "avduarte333/arXivTection") / "0_arXivTection_data.csv"
    with path.open("w", encoding="utf-8-sig", newline="") as file:
        table = csv.writer(file)
        table.writerow([*(f"Example_{letter}" for letter in "ABCD"), "Answer", "ID", "Label"])
        for number in range(8):
            answer = "ABCD"[number % 4]
            texts = [
                sentence("verbatim" if letter == answer else letter, number) for letter in "ABCD"
            ]
            table.writerow([*texts, answer, f"paper {number // 2}", number // 4])
