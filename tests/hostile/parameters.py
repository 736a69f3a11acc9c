"""Parameters that no job may have, in manifests that were sealed again: for each promise, method and stage, by its name.

Each is refused by whoever opens the folder, and by the audit, with a reason that names the parameter.
"""

from __future__ import annotations

from typing import Any

EVERYWHERE: dict[str, dict[str, list[Any]]] = {
    "k-anonymity": {"k": [1, 0, -3, 2.5, 10**30, "many", None, [5], True]},
    "alpha-k-anonymity": {"alpha": [0, -0.5, 1.5, 1e300], "k": [1, 0]},
    "k-map": {"k": [1, 2.5], "population": [7, ["people.csv"]]},
    "distinct-l-diversity": {"l": [1, 0, 1.5, 10**30], "column": [3, "nobody"]},
    "probabilistic-l-diversity": {"l": [1, 0.5, -2, 1e300, "1e999999999"], "column": ["age"]},
    "entropy-l-diversity": {"l": [1, 0, -2, 1e300]},
    "recursive-l-diversity": {"c": [0, -1, "1e301"], "l": [1, 1.5]},
    "l-dichotomy": {"l": [1, 0, 2.5]},
    "t-closeness": {"t": [5, 0, -0.2, 1e300, "6/5"], "distance": ["euclidean", 2, None]},
    "delta-disclosure": {"delta": [0, -1], "base": [0, 1e300, 10, "pi", True], "absent": ["forgive"]},
    "beta-likeness": {"beta": [0, -1], "enhanced": ["yes", 1], "two_sided": [0]},
    "semantic-beta-likeness": {"beta": [0], "level": [0, -1, 1.5, 10**30]},
    "proximity-beta-likeness": {"beta": [-4], "width": [-1, "wide"]},
    "rho-guarantee": {"rho1": [0, -0.1, 0.6, 1], "rho2": [0, 0.2, 1.5], "lambda": [0, 1, 5, -1]},
    "delta-growth": {"delta": [0, 2, -1], "lambda": [0, 1]},
    "bt-privacy": {
        "bandwidth": [-0.5, "half", {}, {"age": -1}, {"nobody": 0.3}, [0.3]],
        "t": [5, 0, -1],
        "smoothing": [-1, "none"],
        "kernel": ["box", 3],
        "posterior": ["exact", "guessed"],
        "base": [0, 1e300, 3],
        "distances": [
            {"nobody": {"values": ["a"], "rows": [[0]]}},
            {"age": "a.csv"},
            {"age": {"values": ["1"], "rows": [[4]]}},
        ],
    },
    "skyline": {
        "points": [
            [],
            {},
            [3],
            [{"bandwidth": 0.3}],
            [{"bandwidth": -0.5, "t": 0.6}],
            [{"bandwidth": 0.3, "t": 5}],
            [{"bandwidth": 0.3, "t": 0.6, "name": "Ann"}],
            [{"bandwidth": 0.3, "t": 0.6}] * 10_000,
        ],
        "kernel": ["box"],
        "smoothing": [-1],
        "base": [0, 1e300],
    },
    "p-privacy": {
        "target": [
            "nobody",
            {},
            {"zipf": {"s": -1}},
            {"zipf": {}},
            {"normal": {"mean": 1, "std": 0}},
            {"weights": {"flu": -1}},
            {"weights": {"flu": 0}},
            {"nearest": {"model": "k-anonymity", "k": 2}},
            {"nearest": {"model": "t-closeness", "t": 0}},
            {"groups": {}},
            {"groups": {"a group that does not exist": "uniform"}},
            {"groups": {"all": {"groups": {"all": "uniform"}}}},
        ],
        "distance": [0, 1, -1, 40],
        "exact": ["yes"],
        "domain": [[0, 10, 3], [0, 10, 0], [10, 0, 1], [1]],
    },
    "mondrian": {
        "cuts": ["wild"],
        "fallback": [1],
        "labels": ["names"],
        "weights": [{"age": -1}, {"nobody": 1}, {"age": 1e300}],
    },
    "mosaic": {"effort": ["endless", 0, -1, 1e300], "threads": [0, 10**9, 1.5]},
    "burel": {"share": [0, 2], "fill": ["wild"], "axes": ["crooked"]},
    "sabre": {"share": [-1, 2]},
    "beta-perturbation": {"matrix": ["identity"], "conditioning": [0, 2]},
    "anatomy": {"grouping": ["by name"]},
    "distribution": {
        "arity": [1, 0, 10**9, 2.5],
        "fakes": [-1, 1.5, 10**20, 10**6],
        "within": ["anything"],
        "size": [1, 0],
        "k": [1],
        "group_by": [[], {}, ["nobody"], {"age": "young"}, 3],
        "workload": [{"age": 0}, {"age": 2}, {"nobody": 0.5}],
    },
    "perturbed-generalization": {
        "p": [0, 1, -0.5, "1/1000001"],
        "k": [0, 1.5],
        "s": [0, 2, 0.5],
        "grouping": ["wild", "specialization"],
        "cuts": ["blind"],
        "categories": [[["a"]], "abc"],
        "domain": [[], "abc", [3]],
    },
    "suppression": {
        "l": [1, 0, 2.5, 10**30],
        "kind": ["careless", "unsafe"],
        "column": ["nobody"],
        "acknowledge": ["yes"],
    },
}
