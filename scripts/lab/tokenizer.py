"""Train the lab's tokenizer on the whole corpus, so that it cannot tell members from non-members.

Byte-level BPE, without special tokens, prefix space or normalisation: decode(encode(x)) == x.
"""

import json
import os
from pathlib import Path

from tokenizers import Tokenizer, decoders, models, pre_tokenizers, trainers

from scripts.atomic import replacing
from scripts.cli import arguments, run
from scripts.lab.sotu import speeches

# Read by transformers' AutoTokenizer; clean-up would change the spaces of decoded texts.
CONFIG = {
    "tokenizer_class": "PreTrainedTokenizerFast",
    "clean_up_tokenization_spaces": False,
    "add_prefix_space": False,
}


def train(texts: list[str], vocab_size: int) -> Tokenizer:
    """A byte-level BPE of `vocab_size` tokens, the 256 bytes among them."""
    tokenizer = Tokenizer(models.BPE())
    tokenizer.pre_tokenizer = pre_tokenizers.ByteLevel(add_prefix_space=False)
    tokenizer.decoder = decoders.ByteLevel()
    trainer = trainers.BpeTrainer(
        vocab_size=vocab_size,
        initial_alphabet=pre_tokenizers.ByteLevel.alphabet(),
        show_progress=False,
    )
    tokenizer.train_from_iterator(texts, trainer, length=len(texts))
    return tokenizer


def save(tokenizer: Tokenizer, folder: Path) -> None:
    """Write `folder` in the form that AutoTokenizer loads."""
    with replacing(folder) as temporary:
        temporary.mkdir()
        tokenizer.save(str(temporary / "tokenizer.json"))
        (temporary / "tokenizer_config.json").write_text(json.dumps(CONFIG, indent=2) + "\n")


def main() -> None:
    """Step: settings `speeches` (every n-th) and `vocab_size`; writes the folder `--tokenizer`."""
    args = arguments(__doc__, ["tokenizer"])
    os.environ["RAYON_NUM_THREADS"] = str(args.threads)  # read at the first training
    texts = [speech.text for speech in speeches(args.settings["speeches"])]
    save(train(texts, args.settings["vocab_size"]), args.tokenizer)


if __name__ == "__main__":
    run(main)
