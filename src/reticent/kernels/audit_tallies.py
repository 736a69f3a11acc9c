"""How often each number occurs, in a table by hash: open addressing, a free place has the key -1."""

try:
    import cython
except ImportError:  # uncompiled, and Cython is not installed
    from reticent.kernels import cython_names as cython


def tally_words(
    word: cython.longlong[::1],
    begin: cython.Py_ssize_t,
    keys: cython.longlong[::1],
    multiplicity: cython.longlong[::1],
    key_count: cython.Py_ssize_t,
    max_keys: cython.Py_ssize_t,
) -> tuple[cython.Py_ssize_t, cython.Py_ssize_t]:
    """Count word[begin], word[begin + 1], ... (none is negative) until the table, a power of two of places, has `max_keys` keys.

    `key_count` keys are in it already.  Returns where counting stopped and how many keys the table then has.
    """
    i: cython.Py_ssize_t = begin
    slot: cython.ulonglong
    mask: cython.ulonglong = keys.shape[0] - 1
    with cython.nogil:
        while i < word.shape[0] and key_count < max_keys:
            slot = _find_home(word[i], mask)
            while keys[slot] != word[i] and keys[slot] != -1:
                slot = (slot + 1) & mask
            if keys[slot] == -1:
                keys[slot] = word[i]
                key_count += 1
            multiplicity[slot] += 1
            i += 1
    return i, key_count


def place_words(
    word: cython.longlong[::1],
    count: cython.longlong[::1],
    keys: cython.longlong[::1],
    multiplicity: cython.longlong[::1],
):
    """Put distinct numbers with their counts into an empty table that has room for them."""
    i: cython.Py_ssize_t
    slot: cython.ulonglong
    mask: cython.ulonglong = keys.shape[0] - 1
    with cython.nogil:
        for i in range(word.shape[0]):
            slot = _find_home(word[i], mask)
            while keys[slot] != -1:
                slot = (slot + 1) & mask
            keys[slot] = word[i]
            multiplicity[slot] = count[i]


@cython.cfunc
@cython.nogil
@cython.inline
@cython.exceptval(check=False)
def _find_home(word: cython.longlong, mask: cython.ulonglong) -> cython.ulonglong:
    """Return where a number is looked for first."""
    mixed: cython.ulonglong = cython.cast(cython.ulonglong, word) * cython.cast(cython.ulonglong, 0x9E3779B97F4A7C15)
    return (mixed ^ (mixed >> 32)) & mask
