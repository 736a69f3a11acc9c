"""Algorithm 2, minSORFake (Koudas, Srivastava, Yu & Zhang, VLDB 2009, section 5.2), one table for every number of fakes up to t.

cost(N, k, u) is the least sum of ranges at and below node N when k fakes are added there and u of the held and fake values are
kept (the others are generalized above).  It differs from the paper in these: values kept are counted instead of values removed;
the root term is that of errata 4.1; a state that would remove more than there is costs infinity (errata 4.6); and the number of
values passed on is a minimum over all multiples of the ratio, which does not rest on theorem 1.  With j values for each unit of
weight,

    down(k, j)    = min over x_1 + ... + x_m = k of sum_i cost(C_i, x_i, j w_i)     one child after the other: any arity
    cost(N, k, u) = min over j with j W <= u of down(k, j) + (u - j W) range(N)

`tree[node]` is (parent, first child, children, weight), parents before children; `offsets[node]` says where the node's costs,
(t + 1) x (held + t + 1), begin in `cost`, and where the choices of its edge, (t + 1) x (J + 1) of its parent, begin in `choice`.
"""

try:
    import cython
except ImportError:  # uncompiled, and Cython is not installed
    from reticent.kernels import cython_names as cython

INFEASIBLE = cython.declare(cython.double, 1e300)


def fill_costs(
    values_below: cython.longlong[::1],
    tree: cython.longlong[:, ::1],
    ranges: cython.double[::1],
    cost: cython.double[::1],
    choice: cython.int[::1],
    offsets: cython.longlong[:, ::1],
    t: cython.longlong,
) -> None:
    """Fill in every cost, children before parents; what follows the last node's costs is working room for `down`."""
    nodes: cython.Py_ssize_t = tree.shape[0]
    down: cython.longlong = offsets[nodes, 0]
    node: cython.Py_ssize_t
    child: cython.Py_ssize_t
    weights: cython.longlong
    units: cython.longlong
    is_first: cython.bint
    for node in range(nodes - 1, -1, -1):
        if tree[node, 2] == 0:
            _fill_leaf(offsets[node, 0], values_below[node], cost, t)
            continue
        weights = sum_child_weights(tree, node)
        units = (values_below[node] + t) // weights + 1 if weights > 0 else 1
        is_first = True
        for child in range(tree[node, 1], tree[node, 1] + tree[node, 2]):
            if tree[child, 3] == 0:
                continue
            if is_first:
                _start_down(
                    offsets[child, 0],
                    offsets[child, 1],
                    values_below[child],
                    tree[child, 3],
                    down,
                    units,
                    cost,
                    choice,
                    t,
                )
            else:
                _extend_down(
                    offsets[child, 0],
                    offsets[child, 1],
                    values_below[child],
                    tree[child, 3],
                    down,
                    units,
                    cost,
                    choice,
                    t,
                )
            is_first = False
        _fill_node(offsets[node, 0], values_below[node], ranges[node], weights, down, units, cost, t)


def recover_choices(
    values_below: cython.longlong[::1],
    tree: cython.longlong[:, ::1],
    ranges: cython.double[::1],
    cost: cython.double[::1],
    choice: cython.int[::1],
    offsets: cython.longlong[:, ::1],
    t: cython.longlong,
    out: cython.longlong[:, ::1],
) -> None:
    """Write out[node] = (fakes below, values kept below, values generalized to the node); the root's first two are given."""
    node: cython.Py_ssize_t
    child: cython.Py_ssize_t
    fakes: cython.longlong
    values: cython.longlong
    base: cython.longlong
    weights: cython.longlong
    units: cython.longlong
    passed: cython.longlong
    for node in range(tree.shape[0]):
        fakes = out[node, 0]
        values = out[node, 1]
        weights = sum_child_weights(tree, node)
        if weights == 0:
            out[node, 2] = values
            continue
        units = (values_below[node] + t) // weights + 1
        base = offsets[node, 0] + fakes * (values_below[node] + t + 1)
        while values > 0 and cost[base + values] == cost[base + values - 1] + ranges[node]:
            values -= 1
        out[node, 2] = out[node, 1] - values
        passed = values // weights
        for child in range(tree[node, 1] + tree[node, 2] - 1, tree[node, 1] - 1, -1):
            out[child, 0] = choice[offsets[child, 1] + fakes * units + passed] if tree[child, 3] > 0 else 0
            out[child, 1] = passed * tree[child, 3]
            fakes -= out[child, 0]


@cython.cfunc
@cython.exceptval(check=False)
def sum_child_weights(tree: cython.longlong[:, ::1], node: cython.longlong) -> cython.longlong:
    total: cython.longlong = 0
    child: cython.Py_ssize_t
    for child in range(tree[node, 1], tree[node, 1] + tree[node, 2]):
        total += tree[child, 3]
    return total


@cython.cfunc
@cython.exceptval(check=False)
def _fill_leaf(
    base: cython.longlong, own_values: cython.longlong, cost: cython.double[::1], t: cython.longlong
) -> cython.void:
    """Fill in the costs of a leaf: nothing, for as many values as there are."""
    k: cython.Py_ssize_t
    u: cython.Py_ssize_t
    width: cython.longlong = own_values + t + 1
    for k in range(t + 1):
        for u in range(width):
            cost[base + k * width + u] = 0.0 if u <= own_values + k else INFEASIBLE


@cython.cfunc
@cython.exceptval(check=False)
def _start_down(
    base: cython.longlong,
    choices: cython.longlong,
    own_values: cython.longlong,
    weight: cython.longlong,
    down: cython.longlong,
    units: cython.longlong,
    cost: cython.double[::1],
    choice: cython.int[::1],
    t: cython.longlong,
) -> cython.void:
    """Compute down(k, j) of a node's first child: all fakes go to it."""
    k: cython.Py_ssize_t
    j: cython.Py_ssize_t
    width: cython.longlong = own_values + t + 1
    for k in range(t, -1, -1):
        for j in range(units):
            cost[down + k * units + j] = (
                cost[base + k * width + j * weight] if j * weight <= own_values + k else INFEASIBLE
            )
            choice[choices + k * units + j] = k


@cython.cfunc
@cython.exceptval(check=False)
def _extend_down(
    base: cython.longlong,
    choices: cython.longlong,
    own_values: cython.longlong,
    weight: cython.longlong,
    down: cython.longlong,
    units: cython.longlong,
    cost: cython.double[::1],
    choice: cython.int[::1],
    t: cython.longlong,
) -> cython.void:
    """Compute down(k, j) of one child more: the best number x of fakes goes to it, the others to those before it."""
    k: cython.Py_ssize_t
    x: cython.Py_ssize_t
    j: cython.Py_ssize_t
    width: cython.longlong = own_values + t + 1
    feasible: cython.longlong
    row: cython.longlong
    earlier: cython.longlong
    total: cython.double
    for k in range(t, -1, -1):
        row = down + k * units
        for x in range(k + 1):
            feasible = (own_values + x) // weight + 1
            if feasible > units:
                feasible = units
            earlier = down + (k - x) * units
            for j in range(feasible):
                total = cost[earlier + j] + cost[base + x * width + j * weight]
                if x == 0 or total < cost[row + j]:
                    cost[row + j] = total
                    choice[choices + k * units + j] = x
            if x == 0:
                for j in range(feasible, units):
                    cost[row + j] = INFEASIBLE
                    choice[choices + k * units + j] = 0


@cython.cfunc
@cython.exceptval(check=False)
def _fill_node(
    base: cython.longlong,
    own_values: cython.longlong,
    range_of_node: cython.double,
    weights: cython.longlong,
    down: cython.longlong,
    units: cython.longlong,
    cost: cython.double[::1],
    t: cython.longlong,
) -> cython.void:
    """Fill in the costs of a node from those of its children: each value is generalized to it or passed on."""
    k: cython.Py_ssize_t
    u: cython.Py_ssize_t
    width: cython.longlong = own_values + t + 1
    least_cost: cython.double
    for k in range(t + 1):
        cost[base + k * width] = 0.0
        for u in range(1, width):
            if u > own_values + k:
                cost[base + k * width + u] = INFEASIBLE
                continue
            least_cost = cost[base + k * width + u - 1] + range_of_node
            if weights > 0 and u % weights == 0 and cost[down + k * units + u // weights] <= least_cost:
                least_cost = cost[down + k * units + u // weights]
            cost[base + k * width + u] = least_cost
