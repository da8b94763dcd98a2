"""Character offsets of given token ids in the text that they decode to."""

import json
from collections.abc import Sequence

import numpy as np
from tokenizers import Tokenizer
from tokenizers.decoders import DecodeStream


class Offsets:
    """Finds start and end of each token; a token that holds part of a character covers it whole."""

    def __init__(self, tokenizer: Tokenizer):
        self._tokenizer = tokenizer
        decoder = json.loads(tokenizer.to_str())["decoder"] or {}
        byte_level = decoder.get("type") == "ByteLevel"
        self._pieces = _byte_pieces(tokenizer) if byte_level else None
        self._special = {
            i for i, token in tokenizer.get_added_tokens_decoder().items() if token.special
        }

    def find(self, ids: Sequence[int], text: str) -> tuple[np.ndarray, np.ndarray] | None:
        """Start and end offsets [n] of `ids` in `text`; None where they do not decode to it.

        Special tokens count as text or, where `text` was decoded without them, as nothing.
        """
        walk = self._by_stream if self._pieces is None else self._by_bytes
        for silent in (frozenset(), self._special):
            try:
                found = walk(ids, silent)
            except KeyError:  # an id that the vocabulary does not have
                return None
            if found[0] == text:
                return found[1:]
            if not self._special.intersection(ids):
                break
        return None

    def _by_bytes(self, ids, silent) -> tuple[str, np.ndarray, np.ndarray]:
        pieces = [b"" if i in silent else self._pieces[i] for i in ids]
        raw = b"".join(pieces)
        sizes = np.asarray([len(piece) for piece in pieces], np.int64)
        ends = np.cumsum(sizes)
        begins = ends - sizes
        text, begins_character = _decode(raw)
        # characters[b]: how many characters begin before byte b
        characters = np.concatenate([[0], np.cumsum(begins_character)])
        inside = np.append(~begins_character, False)  # byte b continues a character
        start = characters[begins] - inside[begins]
        end = np.maximum(characters[ends], start)
        return text, start, end

    def _by_stream(self, ids, silent) -> tuple[str, np.ndarray, np.ndarray]:
        stream = DecodeStream(skip_special_tokens=bool(silent))
        start, end, text = np.zeros(len(ids), np.int64), np.zeros(len(ids), np.int64), ""
        waiting = 0  # tokens whose character is not complete yet: bytes of one character
        for k, token in enumerate(ids):
            piece = stream.step(self._tokenizer, int(token))
            if piece is None and token not in silent:
                waiting += 1
                continue
            span = slice(k - waiting, k + 1)
            start[span], end[span] = len(text), len(text) + len(piece or "")
            text, waiting = text + (piece or ""), 0
        start[len(ids) - waiting :] = end[len(ids) - waiting :] = len(text)
        return text, start, end


def _decode(raw: bytes) -> tuple[str, np.ndarray]:
    """`raw` as text, and for each byte whether a character begins at it.

    Bytes that are no UTF-8 become U+FFFD by maximal subparts, as tokenizers decodes them.
    """
    begins = (np.frombuffer(raw, np.uint8) & 0xC0) != 0x80
    try:
        return raw.decode(), begins
    except UnicodeDecodeError:
        pass
    text, position = [], 0
    while position < len(raw):
        try:
            text.append(raw[position:].decode())
            break
        except UnicodeDecodeError as error:
            text.append(raw[position : position + error.start].decode())
            bad = slice(position + error.start, position + error.end)
            begins[bad] = False
            begins[bad.start] = True
            text.append("\ufffd")
            position = bad.stop
    return "".join(text), begins


def _byte_pieces(tokenizer: Tokenizer) -> dict[int, bytes]:
    """The bytes of each token of a byte-level vocabulary."""
    added = tokenizer.get_added_tokens_decoder()
    to_byte = _alphabet()
    pieces = {}
    for token, i in tokenizer.get_vocab(with_added_tokens=True).items():
        if i in added or not all(character in to_byte for character in token):
            pieces[i] = token.encode()
        else:
            pieces[i] = bytes(to_byte[character] for character in token)
    return pieces


def _alphabet() -> dict[str, int]:
    """GPT-2's printable stand-in for each byte: itself where printable, else from U+0100 on."""
    printable = [*range(33, 127), *range(161, 173), *range(174, 256)]
    hidden = [byte for byte in range(256) if byte not in printable]
    return {chr(byte): byte for byte in printable} | {
        chr(256 + n): byte for n, byte in enumerate(hidden)
    }
