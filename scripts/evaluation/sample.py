"""The evaluated texts: which are members, and which of them belong together."""

from dataclasses import dataclass

import numpy as np

from scripts.errors import UserError
from scripts.evaluation.classes import check_classes

MANY_GROUPS = 25  # with fewer in a class, t with G - 2 degrees of freedom replaces the normal


@dataclass(frozen=True)
class Sample:
    """Labels and groups of n texts, with at least two texts and two groups in each class."""

    labels: np.ndarray  # bool [n], True for a member
    groups: np.ndarray  # int [n], codes 0 … G - 1
    grouping: str  # "none", "nested" (no group in both classes) or "crossed"
    member_groups: int  # groups with a member
    nonmember_groups: int

    @property
    def members(self) -> int:
        """The number of members."""
        return int(self.labels.sum())

    @property
    def nonmembers(self) -> int:
        """The number of non-members."""
        return len(self.labels) - self.members

    @property
    def group_count(self) -> int:
        """The number of groups, G."""
        return int(self.groups.max()) + 1

    @property
    def degrees(self) -> float:
        """Degrees of freedom of a test: infinity, or G - 2 with few groups in a class."""
        few = min(self.member_groups, self.nonmember_groups) < MANY_GROUPS
        return self.group_count - 2 if few else np.inf

    @property
    def independent_pairs(self) -> int:
        """The most pairs of a member and a non-member such that no group serves twice."""
        return min(self.member_groups, self.nonmember_groups, self.group_count // 2)


def make_sample(labels: np.ndarray, groups: np.ndarray, dataset: str) -> Sample:
    """Check `labels` (bool [n]) and `groups` (int codes [n], 0 … G - 1, each used) of a dataset.

    Raises UserError where a class has too few texts or groups to say how sure a result is.
    """
    check_classes(int(labels.sum()), int((~labels).sum()), dataset)
    for label, name in ((True, "members"), (False, "non-members")):
        if len(np.unique(groups[labels == label])) < 2:
            raise UserError(
                f"dataset {dataset}: all {name} share one group, so nothing says how much groups "
                "differ; give texts of two or more groups, or leave the group column out"
            )
    total = int(groups.max()) + 1
    if total < 3:
        raise UserError(
            f"dataset {dataset}: {total} groups in all; metrics need three or more groups, or "
            "no group column"
        )
    member_groups = len(np.unique(groups[labels]))
    nonmember_groups = len(np.unique(groups[~labels]))
    if total == len(labels):
        grouping = "none"
    else:
        grouping = "nested" if member_groups + nonmember_groups == total else "crossed"
    return Sample(labels, groups, grouping, member_groups, nonmember_groups)
