"""The earth mover's distance by its definition: the cheapest way to carry one distribution into another.

Successive cheapest paths on the bipartite graph of surplus and deficit, with Fractions throughout.  The closed forms
in `closeness.py` are checked against it.
"""

from collections.abc import Callable, Hashable, Mapping
from fractions import Fraction
from itertools import pairwise


def earth_movers_distance(
    p: Mapping[Hashable, Fraction], q: Mapping[Hashable, Fraction], distance: Callable[[Hashable, Hashable], Fraction]
) -> Fraction:
    surplus = {v: p.get(v, Fraction(0)) - q.get(v, Fraction(0)) for v in {*p, *q}}
    supply = {v: mass for v, mass in surplus.items() if mass > 0}
    demand = {v: -mass for v, mass in surplus.items() if mass < 0}
    flow = {(v, w): Fraction(0) for v in supply for w in demand}
    cost = {(v, w): distance(v, w) for v in supply for w in demand}
    while any(supply.values()):
        path = _cheapest_path(supply, demand, flow, cost)
        pushed = min(supply[path[0]], demand[path[-1]])
        for back, ahead in zip(path[1:-1:2], path[2:-1:2], strict=True):
            pushed = min(pushed, flow[ahead, back])
        for i, (here, there) in enumerate(pairwise(path)):
            if i % 2 == 0:
                flow[here, there] += pushed
            else:
                flow[there, here] -= pushed
        supply[path[0]] -= pushed
        demand[path[-1]] -= pushed
    return sum((flow[edge] * cost[edge] for edge in flow), Fraction(0))


def _cheapest_path(supply: dict, demand: dict, flow: dict, cost: dict) -> list:
    """Bellman-Ford over the residual graph: forward along any edge, backward along one that carries something."""
    best = {v: (Fraction(0), [v]) for v, mass in supply.items() if mass > 0}
    changed = True
    while changed:
        changed = False
        for (v, w), price in cost.items():
            if v in best and (w not in best or best[v][0] + price < best[w][0]):
                best[w] = (best[v][0] + price, [*best[v][1], w])
                changed = True
            if w in best and flow[v, w] > 0 and (v not in best or best[w][0] - price < best[v][0]):
                best[v] = (best[w][0] - price, [*best[w][1], v])
                changed = True
    return min((best[w] for w, mass in demand.items() if mass > 0), key=lambda found: found[0])[1]
