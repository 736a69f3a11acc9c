"""What must be true of the oracle's measures for every table."""

from fractions import Fraction as F

from hypothesis import given
from hypothesis import strategies as st

from tests.oracle import closeness, feasibility, groups, likeness, measures
from tests.oracle.labels import covers, describe
from tests.oracle.transport import earth_movers_distance
from tests.support import strategies

VALUES = [f"s{i}" for i in range(5)]
CLOSED_UNDER_UNION = [
    "k-anonymity",
    "alpha-k-anonymity",
    "distinct-l-diversity",
    "probabilistic-l-diversity",
    "entropy-l-diversity",
    "recursive-l-diversity",
    "t-closeness",
    "beta-likeness",
]


def asked(promise: dict, tree: list) -> dict:
    return {**promise, "order": VALUES, "tree": tree} if promise["model"] == "t-closeness" else promise


@given(strategies.histograms(null=True), strategies.trees(VALUES))
def test_the_closed_forms_of_the_earth_movers_distance_are_its_definition(table, tree):
    reference = groups.overall(table)
    order = closeness.value_order(reference, VALUES)
    steps = F(1, max(len(order) - 1, 1))
    for group in table:
        q = closeness.distribution(group)
        p = closeness.distribution(reference)
        assert closeness.equal(group, reference) == earth_movers_distance(p, q, lambda v, w: F(1))
        assert closeness.ordered(group, reference, VALUES) == earth_movers_distance(
            p, q, lambda v, w: steps * abs(order.index(v) - order.index(w))
        )
        assert closeness.hierarchical(group, reference, tree) == earth_movers_distance(
            p, q, lambda v, w: closeness.tree_distance(tree, v, w)
        )


@given(strategies.histograms(null=True))
def test_in_a_flat_tree_the_hierarchical_distance_is_the_equal_one(table):
    flat = [[value, "*"] for value in VALUES]
    assert measures.t_closeness(table, "hierarchical", tree=flat) == measures.t_closeness(table)


@given(strategies.histograms(null=True), strategies.promises(), strategies.trees(VALUES))
def test_the_order_of_groups_and_rows_changes_nothing(table, promise, tree):
    promise = asked(promise, tree)
    turned = [dict(reversed(group.items())) for group in reversed(table)]
    assert measures.holds(groups=table, **promise) == measures.holds(groups=turned, **promise)


@given(strategies.histograms(null=True), strategies.promises(CLOSED_UNDER_UNION), strategies.trees(VALUES))
def test_uniting_two_groups_never_breaks_a_promise_closed_under_union(table, promise, tree):
    if promise.get("two_sided"):
        promise["two_sided"] = False
    promise = asked(promise, tree)
    united = [groups.overall(table[:2]), *table[2:]]
    assert measures.holds(groups=united, **promise) or not measures.holds(groups=table, **promise)


@given(strategies.histograms(null=True))
def test_the_whole_table_as_one_group_says_nothing_new(table):
    single = [groups.overall(table)]
    assert measures.t_closeness(single) == measures.t_closeness(single, "ordered", order=VALUES) == 0
    assert measures.beta(single) == measures.beta(single, two_sided=True) == 0
    assert measures.delta(single) == 0


@given(strategies.histograms(null=True), st.booleans(), st.booleans())
def test_a_beta_holds_exactly_from_the_achieved_one_on(table, enhanced, two_sided):
    form = {"enhanced": enhanced, "two_sided": two_sided}
    least = measures.beta(table, **form)
    if least is None:
        assert not measures.holds("beta-likeness", table, beta=10**9, **form)
    else:
        assert measures.holds("beta-likeness", table, beta=least, **form)
        assert least == 0 or not measures.holds("beta-likeness", table, beta=least - F(1, 10**30), **form)


@given(strategies.histograms(null=True), strategies.decimals("0.1", "4"))
def test_stricter_forms_imply_looser_ones(table, bound):
    def beta(**form):
        return measures.holds("beta-likeness", table, beta=bound, **form)

    assert beta(enhanced=False) or not beta()
    assert beta() or not beta(two_sided=True)
    for base in ("e", 2):
        strict = measures.holds("delta-disclosure", table, delta=bound, base=base)
        assert measures.holds("delta-disclosure", table, delta=bound, base=base, absent="ignore") or not strict


@given(strategies.histograms(null=True), strategies.decimals("1.1", "5"))
def test_probabilistic_diversity_implies_entropy_diversity_implies_distinct_diversity(table, l):  # noqa: E741
    probabilistic, entropy, distinct = (
        measures.holds(f"{kind}-l-diversity", table, l=l) for kind in ("probabilistic", "entropy", "distinct")
    )
    assert entropy or not probabilistic
    assert distinct or not entropy


@given(strategies.histograms(null=True))
def test_a_displayed_figure_agrees_with_the_exact_decision(table):
    slack = F(1, 10**9)
    l = F(measures.entropy_l(table))  # noqa: E741
    assert not measures.holds("entropy-l-diversity", table, l=l + slack)
    assert l < 1 or measures.holds("entropy-l-diversity", table, l=l - slack)
    delta = measures.delta(table, absent="ignore")
    assert measures.holds("delta-disclosure", table, delta=F(delta) + slack, absent="ignore")
    assert not measures.holds("delta-disclosure", table, delta=max(F(delta) - slack, F(0)), absent="ignore")


@given(strategies.tables(most_rows=5, most_quasi=2), strategies.promises(CLOSED_UNDER_UNION, hierarchical=False))
def test_a_promise_closed_under_union_is_feasible_where_one_group_keeps_it(table, promise):
    if not table.rows or promise.get("two_sided"):
        return
    columns = [
        describe(c["kind"], table.column(q), c["hierarchy"], c["order"])
        for q, c in table.columns.items()
        if q in table.quasi
    ]
    rows = groups.rows_of(table.rows, table.quasi, table.sensitive)
    single = [groups.overall([{sensitive: 1} for _, sensitive in rows])]

    def keeps(found: list) -> bool:
        return measures.holds(groups=found, **promise)

    assert feasibility.is_feasible(rows, columns, keeps) == keeps(single)
    assert (feasibility.least_loss(rows, columns, keeps) is None) == (not keeps(single))


@given(strategies.tables(awkward=True, missing_sensitive=True, carried=True))
def test_every_drawn_cell_is_covered_by_the_star(table):
    for name in table.quasi:
        c = table.columns[name]
        column = describe(c["kind"], table.column(name), c["hierarchy"], c["order"])
        assert all(covers("*", column, cell) for cell in table.column(name))
        if c["hierarchy"]:
            assert {len(row) for row in c["hierarchy"]} == {len(c["hierarchy"][0])}


def test_the_gain_of_a_certain_value_is_within_the_logarithm():
    assert likeness.gain_within_logarithm(F(1), F(0))
