"""How far a risk computed in doubles can be from the true one: a bound that is proven, in units of rounding.

Nothing in a risk subtracts: priors, factors and posteriors are sums, products and quotients of numbers >= 0, so each has a
relative error of at most the number of operations on its way (to first order; the whole is doubled for what follows).

    a weight                     1, the Gaussian 32; a product of them their sum         (`terms` counts these and the additions)
    a prior                      numerator and denominator: 2 terms + values + 2
    a factor, each round         the priors of all points added up, once for each round
    a posterior                  numerator and denominator of that
    smoothed                     another average over the values, renormalised

The divergence d itself: its derivative by p times p is p/2 log2(2p/(p + q)), at most 1/2 max(p, q) in size, and so for q: a relative
error e of all p and q moves d by at most e.  Evaluating it adds a few units for each value.
"""

from __future__ import annotations

DOUBLE = 2.0**-53


def units(terms: int, points: int, values: int, rounds: int, smoothed: bool) -> int:
    """The error of a risk in bits, in units of rounding."""
    prior = 2 * terms + values + 40
    factor = rounds * (2 * prior + points + values + 8)
    posterior = 2 * (prior + factor + 2) + values + 4
    if smoothed:
        posterior = 2 * (posterior + values + 24) + values + 4
    return 2 * (posterior + 8 * values + 64)
