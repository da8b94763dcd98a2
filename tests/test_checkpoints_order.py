"""The rebuilt training order of the Pythia suite, and exposures of documents."""

import numpy as np
import pytest

from scripts.checkpoints.neox import NEVER, epochs_for, exposures, pieces, rebuild

# Orders that the training code itself (gpt-neox d36f623, seed 1234) built for toy lengths.
CASES = [
    {
        "sizes": [187, 205, 269, 173, 232, 250, 68, 17, 90, 86, 262, 273, 2, 150, 246, 40, 239, 36, 140, 245, 91, 103, 84, 216, 77, 297, 134, 143, 151, 175, 166, 153, 298, 242, 238, 210, 187, 102, 296, 140, 65, 253, 48, 257, 184, 35, 14, 133, 11, 43, 154, 291, 140, 242, 275, 247, 189],
        "sequence_length": 64,
        "samples_wanted": 87,
        "epochs": 1,
        "doc_order": [29, 44, 8, 22, 6, 50, 54, 13, 18, 31, 40, 33, 4, 20, 42, 27, 21, 48, 10, 7, 51, 14, 17, 25, 56, 32, 1, 37, 55, 2, 35, 39, 36, 0, 11, 3, 34, 52, 9, 16, 5, 28, 46, 45, 43, 30, 26, 41, 23, 49, 15, 24, 12, 53, 38, 19, 47],
        "sample_order": [101, 51, 45, 13, 106, 59, 115, 75, 53, 88, 29, 130, 66, 74, 48, 100, 123, 31, 95, 137, 6, 54, 97, 5, 110, 91, 134, 120, 7, 128, 94, 9, 58, 92, 111, 43, 77, 142, 119, 40, 114, 87, 39, 25, 131, 135, 99, 17, 11, 102, 129, 80, 76, 104, 108, 121, 27, 65, 60, 63, 122, 96, 32, 49, 61, 93, 83, 20, 141, 125, 69, 139, 35, 127, 42, 112, 36, 132, 57, 46, 67, 79, 113, 16, 2, 143, 15, 24, 44, 8, 117, 56, 22, 116, 136, 26, 19, 73, 12, 30, 3, 14, 1, 144, 138, 64, 52, 81, 126, 68, 71, 21, 33, 90, 98, 0, 105, 84, 124, 62, 50, 23, 78, 107, 55, 89, 103, 82, 4, 28, 10, 34, 118, 140, 133, 38, 109, 37, 85, 18, 47, 86, 70, 72, 41],
        "first_rows_as_document_start_end": [[[9, 49, 86], [16, 0, 28]], [[25, 4, 69]], [[51, 193, 258]], [[54, 77, 142]], [[5, 44, 109]], [[32, 30, 95]]],
    },
    {
        "sizes": [154, 80, 149, 114, 75, 297, 4, 30, 58, 290, 207, 264, 60, 216, 111, 147, 2, 185, 249, 199, 47, 160, 81, 289, 264, 56, 153, 281, 254, 212, 192, 13, 222, 142, 28, 74, 162],
        "sequence_length": 64,
        "samples_wanted": 125,
        "epochs": 2,
        "doc_order": [8, 27, 9, 14, 6, 29, 24, 27, 8, 22, 21, 4, 25, 26, 15, 32, 18, 33, 22, 35, 4, 20, 13, 30, 32, 31, 33, 10, 18, 7, 36, 14, 17, 3, 1, 31, 19, 2, 25, 34, 5, 0, 11, 2, 3, 35, 34, 0, 12, 20, 13, 36, 9, 16, 5, 28, 11, 19, 21, 17, 29, 23, 7, 28, 6, 30, 26, 23, 12, 15, 24, 16, 1, 10],
        "sample_order": [144, 59, 6, 73, 93, 146, 140, 104, 5, 120, 52, 132, 154, 101, 53, 7, 161, 31, 58, 131, 91, 48, 32, 9, 142, 74, 13, 40, 149, 29, 100, 51, 137, 63, 159, 14, 156, 54, 158, 112, 117, 70, 166, 99, 113, 115, 44, 43, 66, 97, 65, 60, 128, 77, 50, 23, 162, 170, 125, 171, 122, 157, 39, 86, 71, 41, 134, 45, 22, 163, 106, 165, 102, 12, 24, 56, 25, 168, 136, 17, 92, 11, 138, 160, 96, 110, 141, 108, 111, 27, 95, 94, 152, 49, 164, 83, 61, 130, 126, 20, 129, 75, 8, 80, 81, 69, 76, 18, 35, 153, 167, 87, 124, 42, 33, 88, 36, 155, 57, 147, 46, 67, 79, 139, 127, 107, 16, 2, 72, 15, 64, 123, 68, 26, 19, 169, 30, 3, 1, 145, 150, 116, 119, 21, 148, 114, 90, 98, 121, 0, 105, 84, 62, 151, 78, 55, 89, 103, 82, 4, 28, 10, 34, 143, 118, 47, 133, 135, 38, 109, 37, 85],
        "first_rows_as_document_start_end": [[[23, 145, 210]], [[33, 12, 77]], [[9, 45, 110]], [[17, 7, 72]], [[11, 12, 77]], [[23, 273, 289], [7, 0, 30], [28, 0, 19]]],
    },
    {
        "sizes": [152, 184, 261, 206, 109, 193, 179, 33, 18, 198, 116, 179, 97, 68, 45, 115, 245, 120, 114, 173, 293, 118, 177, 132, 181, 134, 191, 164, 203, 287, 46, 168, 132, 108, 72, 16, 121, 248, 29, 122, 290, 285, 65, 3, 201, 5, 90, 149, 262],
        "sequence_length": 64,
        "samples_wanted": 255,
        "epochs": 3,
        "doc_order": [1, 14, 39, 6, 10, 29, 27, 35, 48, 21, 33, 42, 15, 12, 43, 30, 0, 25, 38, 43, 25, 5, 2, 24, 41, 48, 39, 36, 2, 11, 35, 25, 40, 33, 28, 24, 8, 20, 22, 42, 36, 19, 32, 41, 24, 9, 6, 43, 42, 40, 1, 46, 5, 4, 8, 15, 17, 3, 9, 17, 39, 27, 45, 10, 21, 33, 0, 16, 13, 34, 44, 6, 4, 11, 10, 31, 15, 29, 13, 5, 18, 7, 47, 32, 12, 18, 0, 48, 34, 44, 37, 44, 21, 7, 23, 41, 16, 45, 35, 40, 31, 3, 46, 37, 23, 47, 13, 38, 45, 28, 46, 19, 8, 11, 22, 14, 32, 9, 17, 28, 16, 12, 19, 2, 3, 36, 26, 7, 30, 34, 37, 27, 1, 29, 31, 20, 14, 22, 20, 26, 26, 30, 23, 18, 4, 38, 47],
        "sample_order": [67, 135, 171, 243, 112, 330, 221, 64, 27, 240, 229, 120, 314, 291, 288, 214, 231, 138, 71, 236, 7, 111, 280, 66, 70, 11, 284, 254, 61, 325, 4, 196, 261, 315, 91, 270, 29, 100, 92, 131, 149, 313, 86, 22, 276, 47, 201, 329, 169, 255, 307, 73, 59, 249, 40, 272, 151, 197, 148, 62, 57, 121, 250, 119, 79, 220, 222, 326, 187, 163, 124, 235, 166, 117, 208, 219, 241, 74, 123, 218, 75, 158, 136, 13, 44, 25, 205, 113, 322, 129, 133, 160, 172, 228, 195, 215, 300, 26, 34, 159, 297, 262, 0, 256, 126, 141, 226, 268, 204, 51, 212, 156, 279, 97, 78, 200, 21, 55, 104, 247, 43, 273, 115, 224, 122, 258, 45, 189, 18, 244, 251, 316, 24, 302, 10, 287, 118, 238, 301, 310, 296, 198, 90, 207, 289, 191, 108, 309, 99, 102, 275, 246, 101, 328, 85, 33, 140, 194, 54, 265, 290, 36, 319, 37, 264, 170, 278, 154, 30, 82, 304, 192, 292, 305, 266, 143, 110, 50, 69, 181, 306, 153, 15, 49, 230, 81, 234, 213, 223, 177, 299, 42, 128, 58, 76, 103, 20, 188, 2, 173, 168, 52, 174, 263, 144, 167, 176, 146, 134, 239, 269, 132, 185, 206, 274, 6, 16, 186, 271, 23, 225, 183, 152, 324, 89, 53, 162, 139, 202, 125, 95, 31, 253, 311, 80, 96, 9, 157, 193, 203, 285, 242, 248, 142, 93, 114, 180, 77, 312, 179, 293, 252, 1, 17, 116, 109, 323, 216, 161, 298, 227, 14, 184, 72, 331, 5, 327, 63, 94, 46, 88, 127, 3, 260, 320, 199, 106, 178, 60, 137, 245, 83, 105, 48, 32, 175, 209, 259, 68, 283, 217, 65, 232, 130, 107, 282, 35, 147, 308, 321, 182, 38, 87, 318, 165, 210, 295, 39, 41, 19, 150, 277, 237, 281, 303, 8, 12, 56, 98, 294, 286, 145, 190, 267, 257, 28, 317, 84, 164, 233, 155, 211],
        "first_rows_as_document_start_end": [[[25, 28, 93]], [[17, 51, 116]], [[15, 113, 115], [29, 0, 63]], [[28, 64, 129]], [[40, 102, 167]], [[38, 7, 29], [47, 0, 43]]],
    },
]  # fmt: skip


@pytest.fixture(params=CASES, ids=lambda case: f"{case['epochs']} epochs")
def case(request):
    return request.param


def rebuilt(case):
    sizes = np.array(case["sizes"], np.int32)
    return sizes, rebuild(sizes, case["sequence_length"], case["samples_wanted"], 1234)


def test_the_order_is_the_training_codes(case):
    sizes, order = rebuilt(case)
    wanted = case["samples_wanted"]
    assert epochs_for(int(sizes.sum()), case["sequence_length"], wanted) == case["epochs"]
    assert order.documents.tolist() == case["doc_order"]
    assert order.samples.tolist() == case["sample_order"]
    for position, expected in enumerate(case["first_rows_as_document_start_end"]):
        assert [list(piece) for piece in pieces(order, sizes, position)] == expected


@pytest.mark.parametrize("share", [0.0, 0.1, 0.49, 0.72, 1.0])
def test_exposures_by_brute_force(case, share):
    """Every token of every copy is followed through the joined stream on its own."""
    sizes, order = rebuilt(case)
    length = case["sequence_length"]
    trained = int(share * len(order.samples))
    position_of = {int(s): p for p, s in enumerate(order.samples)}
    counts, positions = exposures(order, sizes, trained)
    whole, partly = np.zeros(len(sizes), int), np.zeros(len(sizes), bool)
    touched = {d: set() for d in range(len(sizes))}
    at = 0
    for document in order.documents.tolist():
        own, lost = set(), False
        for token in range(at, at + sizes[document]):
            holders = {
                position_of[s]
                for s in {token // length, (token - 1) // length}
                if s in position_of and length * s <= token <= length * s + length
            }
            lost |= not holders
            own |= holders
        at += sizes[document]
        touched[document] |= own
        read = [p < trained for p in own]
        if own and all(read) and not lost:
            whole[document] += 1
        elif any(read):
            partly[document] = True
    expected = np.where((whole == 0) & partly, -1, whole)
    assert counts.tolist() == expected.tolist()
    for document, places in touched.items():
        before = [p for p in places if p < trained]
        wanted = max(before) if before else min(places, default=NEVER)
        assert positions[document] == wanted
    if share == 1.0 and case["epochs"] > 1:
        assert counts.max() == case["epochs"]


def test_chunks_do_not_change_exposures(case, monkeypatch):
    sizes, order = rebuilt(case)
    expected = exposures(order, sizes, 60)
    monkeypatch.setattr("scripts.checkpoints.neox._CHUNK", 7)
    for found, wanted in zip(exposures(order, sizes, 60), expected, strict=True):
        assert found.tolist() == wanted.tolist()


def test_a_second_copy_is_not_kept_for_the_second_epoch():
    """Half of what stands behind the middle of a two-epoch order has its other copy before it.

    Both copies' places are independent uniform draws, so the share is that of the pool before the
    middle, for documents of one token per sample on average.
    """
    sizes = np.full(4000, 64, np.int32)
    order = rebuild(sizes, 64, 6000, 1234)
    counts, _ = exposures(order, sizes, len(order.samples) // 2)
    seen_once = (counts == 1).mean()
    # A copy lies in two samples, so it is whole with p = 1/4 and untouched with 1/4.
    assert (counts == 0).mean() == pytest.approx(0.25**2, abs=0.02)
    assert seen_once == pytest.approx(2 * 0.25 * 0.75, abs=0.03)
