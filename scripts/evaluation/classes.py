"""What needs members and non-members says so in one line, wherever it is found out first."""

from scripts.errors import UserError


def check_classes(members: int, nonmembers: int, dataset: str) -> None:
    """Raise UserError where a class has fewer than two texts."""
    if min(members, nonmembers) < 2:
        raise UserError(
            f"dataset {dataset}: {members} members and {nonmembers} non-members with a label; "
            "blind baselines and metrics need two or more of each: add texts of the label that is "
            "missing. Without them texts can be scored (`snakemake results/scores/…`) and called "
            "by a threshold that known non-members set (table `calibration`, docs/deciding.md)"
        )
