"""Texts of a dataset of the hub: files of one repository at one commit, read as they are published.

No loading script of a repository is ever run: its entry says what its files hold.

    wikimia-32:
      source: hub
      id: swj0419/WikiMIA
      files: [data/WikiMIA_length32-*.parquet]
      columns: {text: input}
      counts: {rows: 776}

docs/datasets.md says what an entry can say. The files are those that scripts/hub/fetch_dataset.py
fetched and checked.
"""

import hashlib
import heapq
import importlib
import json
import sys
from collections import Counter, defaultdict
from collections.abc import Iterable, Iterator, Mapping
from itertools import count
from pathlib import Path

from scripts.errors import UserError
from scripts.hub.patterns import chosen
from scripts.seeds import derive
from scripts.sources import values
from scripts.sources.loaded import Loaded
from scripts.sources.published_files import Row, rows, value

COLUMNS = {"text": "text", "label": "label"}
CHECKS = {
    "text": values.text,
    "label": values.label,
    "group": values.name,
    "text_id": values.name,
    "domain": values.optional,
    "date": values.date,
}
CLASSES = {"members": 1, "nonmembers": 0}


def load(inputs: list[Path], settings: dict) -> Loaded:
    """The texts of the files beside ``inputs[0]``, a manifest, as `settings` (the entry) says.

    Raises UserError, one line, where files, columns or counts are not what the entry says.
    """
    [manifest] = inputs
    about = json.loads(manifest.read_bytes())
    where = f"dataset {settings['dataset']}: {about['id']}@{about['commit'][:12]}"
    found = _Counted(_texts(manifest.parent, about["files"], settings, where))
    kept = drawn(found, settings["draw"], settings["seed"], settings["dataset"])
    _check_counts(found.counts, settings["counts"], where)
    names = Counter(text["text_id"] for text in kept)
    if len(names) < len(kept):
        twice = names.most_common(1)[0][0]
        raise UserError(f"{where}: text_id '{twice}' comes twice; mend `columns` of the entry")
    aside = groups_aside(kept, settings["aside"], settings["seed"], settings["dataset"])
    optional = [name for name in ("domain", "date") if any(text[name] for text in kept)]
    repeated = len(kept) - len({text["text"] for text in kept})
    if repeated or found.blank:
        print(
            f"{where}: {found.blank} rows without a text are left out; {repeated} texts are "
            "copies of others, in one group with them",
            file=sys.stderr,
        )
    return Loaded(
        texts=values.table([text for text in kept if text["group"] not in aside], optional),
        aside=values.table([text for text in kept if text["group"] in aside], optional),
        provenance={"hub": about, "blank": found.blank, "repeated": repeated},
    )


def numbered(
    folder: Path, files: Iterable[str], entries: list[Mapping], where: str
) -> Iterator[tuple[Mapping, str, str, Row]]:
    """All rows of the files that `entries` (with a `path` each) stand for.

    With each row its entry, its name `{file}.{row}` (both counted from 1 over the whole dataset,
    whatever is left out) and its place for messages.
    """
    numbers = count(1)
    patterns = [entry["path"] for entry in entries]
    for entry, names in zip(entries, chosen(list(files), patterns, where), strict=True):
        for name in names:
            if not (folder / name).exists():
                raise UserError(
                    f"{folder / name}: it is not in the hub cache any more; remove "
                    f"{folder / 'hub.json'} and run again"
                )
            number = next(numbers)
            for index, row in enumerate(rows(folder / name), start=1):
                yield entry, f"{number}.{index}", f"{where}: {name}, row {index}", row


def drawn(texts: Iterable[dict], most: int | None, seed: int, dataset: str) -> list[dict]:
    """`most` texts of each label and domain, at random, in their order; all where it is None.

    One more of them leaves the others as they are. Texts are read one at a time, so that a sample
    of a file that does not fit into memory does.
    """
    if most is None:
        return list(texts)
    heaps: dict[tuple, list] = defaultdict(list)
    for order, text in enumerate(texts):
        heap = heaps[text["label"], text["domain"]]
        heapq.heappush(heap, (-derive(seed, "draw", dataset, text["text_id"]), order, text))
        if len(heap) > most:
            heapq.heappop(heap)
    found = sorted((order, text) for heap in heaps.values() for _, order, text in heap)
    return [text for _, text in found]


def groups_aside(texts: list[dict], rows: int, seed: int, dataset: str) -> set[str]:
    """Groups drawn at random until each class has `rows` texts in them, or more.

    Whole groups, so that what is learned aside is not about a book or page that is evaluated.
    """
    aside: set[str] = set()
    for label in CLASSES.values():
        sizes = Counter(text["group"] for text in texts if text["label"] == label)
        order = sorted(sizes, key=lambda group: derive(seed, "aside", dataset, group))
        held = sum(sizes[group] for group in aside)
        for group in order:
            if held >= rows:
                break
            held += 0 if group in aside else sizes[group]
            aside.add(group)
        if rows and set(sizes) <= aside:
            raise UserError(
                f"dataset {dataset}: aside: {rows} rows of label {label} are all that there are; "
                "lower it, so that some are left to evaluate"
            )
    return aside


class _Counted:
    """Texts as they pass, without those that are blank, and how many there were of each label."""

    def __init__(self, texts: Iterable[dict]):
        self._texts = texts
        self.counts = Counter()
        self.blank = 0

    def __iter__(self) -> Iterator[dict]:
        for text in self._texts:
            if text["text"] is None:
                self.blank += 1
                continue
            self.counts[text["label"]] += 1
            yield text


def _texts(folder: Path, files: Iterable[str], settings: dict, where: str) -> Iterator[dict]:
    """The checked texts of all rows that fulfil `where`; text None where it is blank."""
    columns = COLUMNS | settings["columns"]
    shape = importlib.import_module(f"scripts.sources.shapes.{settings['shape']}")
    for entry, name, place, row in numbered(folder, files, settings["files"], where):
        if not _fulfils(row, settings["where"], place):
            continue
        given = {"label": entry["label"]} if "label" in entry else {}
        wanted = {key: column for key, column in columns.items() if key not in given}
        made = list(shape.texts(row, wanted, place))
        for index, text in enumerate(made, start=1):
            own = name if len(made) == 1 else f"{name}.{index}"
            yield _checked(text | given, own, place)


def _fulfils(row: Row, conditions: Mapping[str, object], place: str) -> bool:
    for column, wanted in conditions.items():
        valid = wanted if isinstance(wanted, list) else [wanted]
        if value(row, column, place) not in valid:
            return False
    return True


def _checked(text: Mapping, name: str, place: str) -> dict:
    checked: dict[str, object] = dict.fromkeys(CHECKS)
    for column, given in text.items():
        if column == "text" and (given is None or (isinstance(given, str) and not given.strip())):
            continue
        try:
            checked[column] = CHECKS[column](given)
        except ValueError as error:
            raise UserError(f"{place}, {column}: {error}") from error
    checked["text_id"] = checked["text_id"] or name
    # Copies of one text belong together: they must not count as independent.
    digest = hashlib.sha256((checked["text"] or "").encode()).hexdigest()
    checked["group"] = checked["group"] or digest[:16]
    return checked


def _check_counts(found: Counter, expected: Mapping[str, int], where: str) -> None:
    counts = {"rows": found.total()} | {name: found[label] for name, label in CLASSES.items()}
    wrong = [
        f"{counts[key]:,} {key} (expected: {number:,})"
        for key, number in expected.items()
        if counts[key] != number
    ]
    if wrong:
        raise UserError(
            f"{where} has {' and '.join(wrong)}; look at what is other than its entry says, then "
            "correct `counts`, or name the commit that you mean as `revision`"
        )
