"""Blind cuts: groups that depend on sensitive values by one number alone, against who knows the method.

Cuts weigh loss and sizes alone.  The least size of a group is the first of k, 5/4 k, 25/16 k, ... at which all groups keep every promise,
k being the least that the promises themselves allow.  Of sensitive values the groups tell that one number, and so that at each size
tried before some group broke a promise.  Of a large table that is a statement about thousands of groups; in a table of six people, which
has one or two, it still leaves somebody above the promise in a fifth of the releases (studies/minimality).

It costs loss: one group that breaks a promise makes all groups larger (docs/what-else-it-says.md has the price).
"""

from __future__ import annotations

from collections.abc import Callable

from reticent.methods.mondrian.acceptance import Acceptance
from reticent.methods.mondrian.loss_cuts import NEVER, LossCuts
from reticent.methods.mondrian.nodes import Nodes
from reticent.methods.mondrian.spans import Spans
from reticent.models.promises import BoundPromises
from reticent.recipe.recipe import Recipe


def blind(bound: BoundPromises, start: Callable[[], Nodes], spans: Spans, labels: str) -> Recipe:
    """The finest groups of the sizes tried that keep every promise; where none do, those that `start` has."""
    size = Acceptance(bound, start()).least_size
    while True:
        nodes = start()
        whole = len(nodes)
        chooser = LossCuts(nodes, Acceptance(BoundPromises(bound.cells, size, (), ()), nodes), spans, NEVER)
        while len(nodes):
            chosen, cuts = chooser.choose()
            nodes.close(chosen)
            nodes.cut(cuts)
        recipe = Recipe.of_groups(bound.cells, nodes.group_of_cell(), labels)
        if recipe.groups == whole or bound.allow(recipe.as_groups()).all():
            return recipe
        size = size * 5 // 4 + 1
