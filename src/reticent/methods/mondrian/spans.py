"""What a span of codes loses in each column, as the flat tables a kernel reads (equations 2-5 of paper 1)."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from reticent.kernels.mondrian_loss import span_losses
from reticent.table.domain import Domain, TreeDomain

RANGE, TREE, SUBTREES = 0, 1, 2


@dataclass(frozen=True, eq=False)
class Spans:
    """shape[j] = (kind, begin in value, begin in least, levels, null code, codes); see the kernel for their meaning."""

    shape: np.ndarray
    value: np.ndarray
    least: np.ndarray

    @classmethod
    def of(cls, domains: tuple[Domain, ...], weights: np.ndarray, *, apart: bool = False) -> Spans:
        widest = max([domain.size for domain in domains], default=1)
        values: list[np.ndarray] = []
        leasts = [np.frexp(np.maximum(np.arange(widest + 1), 1))[1] - 1]  # the logarithm to base 2
        shape = np.zeros((len(domains), 6), np.int64)
        for j, (domain, weight) in enumerate(zip(domains, weights, strict=True)):
            kind, levels, value, least = _tree(domain, apart) if isinstance(domain, TreeDomain) else _range(domain)
            begins = sum(map(len, values)), sum(map(len, leasts))
            shape[j] = kind, *begins, levels, domain.null_code, domain.size
            values.append(weight * value)
            leasts.append(least)
        return cls(shape, np.concatenate([*values, [0.0]]), np.concatenate(leasts).astype(np.int32))

    def losses(self, box: np.ndarray) -> np.ndarray:
        """(boxes, columns): the weighted loss of each box in each column."""
        found = np.empty((len(box), len(self.shape)))
        span_losses(box, self.shape, self.value, self.least, found)
        return found


def _range(domain: Domain) -> tuple[int, int, np.ndarray, np.ndarray]:
    codes = np.arange(domain.size)
    return RANGE, 0, domain.loss(np.zeros_like(codes), codes), np.zeros(0)


def _tree(domain: TreeDomain, apart: bool) -> tuple[int, int, np.ndarray, np.ndarray]:
    """Losses of the nodes above each leaf by depth, and minima of `split` over 1, 2, 4, ... positions."""
    tree = domain.hierarchy
    above = domain.loss(tree.first, tree.last)[tree.paths[:, ::-1]]
    minima = [np.pad(row, (0, domain.size - len(row))) for row in domain.split_minimum.levels]
    return SUBTREES if apart else TREE, above.shape[1], above.reshape(-1), np.concatenate(minima)
