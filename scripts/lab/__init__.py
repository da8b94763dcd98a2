"""The lab: a corpus, a tokenizer, a training order and models trained on the spot."""
