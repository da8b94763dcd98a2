"""Tagged words and entities of each text: ``results/tags/{dataset}.parquet``.

Sentences are those that Tag&Tab keeps (seven words or more); a text with none counts as one
sentence. Offsets are characters of the text, so that one file serves every model. Words and
entities stand in the order of the text; the `released` columns hold what Tag&Tab's own code would
look for (scripts.tagging.released), nothing for languages other than English.
"""

import pyarrow as pa

from scripts.contracts.table import Contract

RELEASED_KEYWORDS = 9  # in a sentence, at most

_ints = pa.list_(pa.int32())

TAGS = Contract(
    kind="tags",
    required=pa.schema(
        [
            pa.field("text_id", pa.string(), nullable=False),
            pa.field("sentences", pa.int32(), nullable=False),  # kept ones, 0 = whole text as one
            pa.field("word_sentence", _ints, nullable=False),
            pa.field("word_start", _ints, nullable=False),
            pa.field("word_end", _ints, nullable=False),
            pa.field("word_order", _ints, nullable=False),  # 0 = lowest entropy in its sentence
            pa.field("word_tfidf_order", _ints, nullable=False),  # 0 = highest TF-IDF
            # One entry per word of an entity, so that an attack can tell their first tokens.
            pa.field("entity_sentence", _ints, nullable=False),
            pa.field("entity_order", _ints, nullable=False),  # 0 = first entity of its sentence
            pa.field("entity_start", _ints, nullable=False),
            pa.field("entity_end", _ints, nullable=False),
            pa.field("released_order", _ints, nullable=False),  # 0 = lowest entropy in its sentence
            # First hits in the text; -1 where there is none. One pair as byte-level tokenizers
            # spell the text, one as LLaMA's does.
            pa.field("released_start", _ints, nullable=False),
            pa.field("released_end", _ints, nullable=False),
            pa.field("released_joined_start", _ints, nullable=False),
            pa.field("released_joined_end", _ints, nullable=False),
        ]
    ),
)
