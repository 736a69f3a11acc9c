"""Numbers in the order of their groups, by counting: what a stable sort would give, in one pass."""

try:
    import cython
except ImportError:  # uncompiled, and Cython is not installed
    from reticent.kernels import cython_names as cython

AnyInteger = cython.fused_type(cython.int, cython.longlong)


def order_by_group(
    number: AnyInteger[::1], group: AnyInteger[::1], begin: cython.longlong[::1], placed: AnyInteger[::1]
):
    """Write the numbers of group g to placed[begin[g]] .. as they came.  `begin` is where each group begins, and is moved to its end."""
    i: cython.Py_ssize_t
    with cython.nogil:
        for i in range(group.shape[0]):
            placed[begin[group[i]]] = number[i]
            begin[group[i]] += 1
