"""Synonyms: a few words of each text, two to five, replaced by others that mean the same.

A word's synonym is the most used other word of its most common sense in WordNet
(scripts.views.lexicon). How many words and which is drawn; where fewer have a synonym, fewer are
replaced, and a text with none stays as it is.
Source: Tag&Tab, appendix A.5 (Table 4), which does not say where its synonyms are from.
"""

import pyarrow as pa

from scripts.seeds import generator
from scripts.views.lexicon import Lexicon, put
from scripts.views.tables import replaced


def rewrite(texts: pa.Table, aside: pa.Table, *, seed: int, least: int, most: int) -> pa.Table:
    """One row per text with `least` to `most` words replaced; `aside` is not used."""
    strings = texts["text"].to_pylist()
    found = Lexicon(senses=1).slots(strings, "synonyms")
    rewritten = []
    for name, text, slots in zip(texts["text_id"].to_pylist(), strings, found, strict=True):
        rng = generator(seed, "synonyms", name)
        wanted = min(int(rng.integers(least, most + 1)), len(slots))
        chosen = [slots[i] for i in rng.choice(len(slots), size=wanted, replace=False)]
        rewritten.append(put(text, [(slot, slot.others[0]) for slot in chosen]))
    return replaced(texts, rewritten)
