"""How tables and figures call things, and how they print numbers."""

from collections.abc import Callable, Mapping

CLASSIFIERS = {
    "logistic_regression": "logistic regression",
    "random_forest": "random forest",
    "mlp": "MLP",
}


class Titles:
    """Titles of models, datasets, attacks and baselines; a name without one stands for itself."""

    def __init__(self, titles: Mapping[str, Mapping[str, str]]) -> None:
        self._titles = titles

    def _title(self, kind: str, name: str) -> str:
        return self._titles.get(kind, {}).get(name, name)

    def model(self, name: str) -> str:
        """Title of a model."""
        return self._title("models", name)

    def dataset(self, name: str) -> str:
        """Title of a dataset."""
        return self._title("datasets", name)

    def attack(self, name: str) -> str:
        """Title of an attack."""
        return self._title("attacks", name)

    def baseline(self, name: str) -> str:
        """Title of a blind baseline."""
        return self._title("baselines", name)

    @property
    def places(self) -> dict[str, Callable[[Mapping], str]]:
        """The columns that lead a row: its model and its dataset."""
        return {
            "Model": lambda row: self.model(row["model"]),
            "Dataset": lambda row: self.dataset(row["dataset"]),
        }

    def setting(self, row: Mapping[str, object]) -> str:
        """Title of a METRICS row's setting: the attack's title and the parameters."""
        _, bracket, rest = row["setting"].partition("(")
        chosen = f" ({rest}".replace(",", ", ") if bracket and rest != ")" else ""
        return self.attack(row["attack"]) + chosen

    def named(self, setting: str) -> str:
        """Title of a setting of which only the name is known."""
        attacks = self._titles.get("attacks", {})
        fitting = [name for name in attacks if setting == name or setting.startswith(f"{name}(")]
        attack = max(fitting, key=len, default=setting.partition("(")[0])
        return self.setting({"attack": attack, "setting": setting})


def share(value: float | None) -> str:
    """An AUC or a rate with three decimals; empty where there is none."""
    return "" if value is None else f"{value:.3f}"


def interval(low: float, high: float) -> str:
    """An interval of AUCs or rates."""
    return f"[{low:.3f}, {high:.3f}]"


def difference(value: float) -> str:
    """A signed difference of two AUCs."""
    return f"{round(value, 3) + 0.0:+.3f}".replace("-", "−")  # + 0.0: no minus before a zero


def probability(p: float | None) -> str:
    """A p-value."""
    if p is None:
        return ""
    return "<0.001" if p < 0.001 else f"{p:.3f}"


def versus(p: float) -> str:
    """A p-value in a sentence: ``p < 0.001`` or ``p = 0.032``."""
    return "p < 0.001" if p < 0.001 else f"p = {p:.3f}"


def listed(items: list[str]) -> str:
    """Items as they stand in a sentence: a, b and c."""
    return " and ".join([", ".join(items[:-1]), items[-1]] if len(items) > 1 else items)
