"""The oracle against figures worked out by hand and printed in the papers."""

import math
from fractions import Fraction as F

import pytest

from tests.oracle import closeness, diversity, feasibility, groups, labels, likeness, loss, measures
from tests.oracle.logarithm import compare_ln, compare_log2, exact
from tests.oracle.transport import earth_movers_distance

SALARIES = dict.fromkeys(range(3, 12), 1)
DISEASE_TREE = [
    [leaf, kind, system, "*"]
    for system, kinds in {
        "respiratory": {"infection": ["flu", "pneumonia", "bronchitis"], "lung vessels": ["edema", "embolism"]},
        "digestive": {"stomach": ["ulcer", "cancer", "gastritis"], "colon": ["colitis", "colon cancer"]},
    }.items()
    for kind, leaves in kinds.items()
    for leaf in leaves
]
PATIENTS = [  # Cao & Karras 2012, table 1: weight, age, disease
    ((70, 40), "headache"),
    ((60, 60), "epilepsy"),
    ((50, 50), "brain tumors"),
    ((70, 50), "heart murmur"),
    ((80, 50), "anemia"),
    ((60, 70), "angina"),
]


def test_a_group_is_the_rows_with_one_label_tuple():
    rows = [(("[1, 2]", "*"), "a"), (("3", "*"), "b"), (("[1, 2]", "*"), "a")]
    assert groups.group_rows(rows) == {("[1, 2]", "*"): {"a": 2}, ("3", "*"): {"b": 1}}


def test_two_groups_at_distance_one_tenth_have_gains_of_25_and_1000_percent():
    common = {"HIV": 40, "Flu": 60}, {"HIV": 1, "Flu": 1}
    rare = {"HIV": 1, "Flu": 99}, {"HIV": 11, "Flu": 89}
    for reference, group in (common, rare):
        assert closeness.equal(group, reference) == F(1, 10)
        assert closeness.ordered(group, reference) == F(1, 10)
    assert likeness.beta_achieved(common[1], common[0], enhanced=False) == F(1, 4)
    assert likeness.beta_achieved(rare[1], rare[0], enhanced=False) == 10


def test_a_rise_from_one_to_three_percent_is_a_gain_of_200_percent():
    assert likeness.beta_achieved({"HIV": 3, "Flu": 97}, {"HIV": 1, "Flu": 99}) == 2


def test_salaries_3_4_5_are_three_eighths_from_the_table_and_6_8_11_are_a_sixth():
    assert closeness.ordered({3: 1, 4: 1, 5: 1}, SALARIES) == F(3, 8)
    assert closeness.ordered({6: 1, 8: 1, 11: 1}, SALARIES) == F(1, 6)


def test_the_three_classes_of_li_et_al_table_5_are_a_sixth_close_on_salary():
    classes = [dict.fromkeys(salaries, 1) for salaries in ((3, 5, 9), (6, 11, 8), (4, 7, 10))]
    assert [closeness.ordered(group, SALARIES) for group in classes] == [F(1, 6), F(1, 6), F(1, 12)]
    assert measures.t_closeness(classes, "ordered") == F(1, 6)


def test_a_value_of_the_order_that_never_occurs_takes_no_place():
    assert closeness.ordered({3: 1, 4: 1, 5: 1}, SALARIES, order=range(100)) == F(3, 8)
    assert closeness.ordered({3: 1}, {3: 1, 5: 1}, order=[5, 4, 3]) == F(1, 2)


def test_the_distances_in_the_disease_tree_are_thirds():
    distance = [closeness.tree_distance(DISEASE_TREE, "flu", other) for other in ("bronchitis", "embolism", "cancer")]
    assert distance == [F(1, 3), F(2, 3), 1]


def test_hierarchical_distance_agrees_with_a_transport_worked_by_hand():
    classes = [
        dict.fromkeys(names, 1)
        for names in (
            ("ulcer", "cancer", "pneumonia"),
            ("gastritis", "flu", "bronchitis"),
            ("gastritis", "bronchitis", "cancer"),
        )
    ]
    reference = groups.overall(classes)
    # First class: 1/9 crosses the root at cost 1, 2/9 moves inside the stomach and 2/9 inside infections, at 1/3.
    found = [closeness.hierarchical(group, reference, DISEASE_TREE) for group in classes]
    assert found == [F(7, 27), F(8, 27), F(5, 27)]
    assert measures.t_closeness(classes, "hierarchical", tree=DISEASE_TREE) == F(8, 27)


def test_the_transport_plan_may_have_to_undo_a_first_choice():
    cost = {("a", "x"): F(1), ("a", "y"): F(2), ("b", "x"): F(1), ("b", "y"): F(9)}
    p = {"a": F(1, 2), "b": F(1, 2)}
    q = {"x": F(1, 2), "y": F(1, 2)}
    assert earth_movers_distance(p, q, lambda v, w: cost[v, w]) == F(3, 2)


def test_the_group_of_eleven_in_paper_5_is_half_3_diverse_by_equality():
    group = {"a": 3, "b": 2, "c": 2, "d": 2, "e": 1, "f": 1}
    assert measures.holds("recursive-l-diversity", [group], c=0.5, l=3)
    assert not measures.holds("recursive-l-diversity", [group], c="0.499", l=3)
    assert diversity.recursive(group, 7) is None
    assert measures.recursive_c([group, {"a": 4, "b": 1, "c": 1}], 3) == 4
    assert measures.recursive_c([group, {"a": 4, "b": 1}], 3) is None


def test_entropy_diversity_of_a_uniform_group_is_its_number_of_values_exactly():
    assert measures.holds("entropy-l-diversity", [{"a": 7, "b": 7, "c": 7}], l=3)
    assert not measures.holds("entropy-l-diversity", [{"a": 7, "b": 7, "c": 7}], l="3.0000000001")
    assert measures.entropy_l([{"a": 2, "b": 1}]) == pytest.approx(3 / 2 ** (2 / 3))


def test_probabilistic_diversity_and_alpha_are_reciprocal():
    table = [{"a": 2, "b": 3}, {"a": 1, "b": 1, "c": 1}]
    assert measures.probabilistic_l(table) == F(5, 3)
    assert measures.alpha(table) == F(3, 5)
    assert measures.holds("alpha-k-anonymity", table, alpha=0.6, k=3)
    assert not measures.holds("alpha-k-anonymity", table, alpha=0.59, k=3)
    assert not measures.holds("alpha-k-anonymity", table, alpha=0.6, k=4)


def test_one_patient_from_each_bucket_of_example_1_makes_classes_that_are_1_like_and_no_less():
    classes = [
        dict.fromkeys(c, 1) for c in (("headache", "brain tumors", "heart murmur"), ("epilepsy", "anemia", "angina"))
    ]
    assert measures.beta(classes) == 1
    assert measures.holds("beta-likeness", classes, beta=1)
    assert not measures.holds("beta-likeness", classes, beta="0.999")


def test_equality_is_within_the_bound_where_floating_point_says_it_is_not():
    for beta, c, n, e, g in ((0.2, 1, 3, 2, 5), (0.5, 3, 5, 9, 10), (4.0, 1, 6, 5, 6)):
        assert e / g > (1 + beta) * (c / n)
        group = {"a": e, "b": g - e}
        reference = {"a": c, "b": n - c}
        assert likeness.beta_holds(group, reference, exact(beta), enhanced=False)
        assert not likeness.beta_holds(group, reference, exact(beta) - F(1, 10**40), enhanced=False)


def test_no_enhanced_beta_holds_where_a_frequent_value_fills_a_group():
    table = [{"a": 4}, {"b": 4}]
    assert measures.beta(table, enhanced=False) == 1
    assert measures.beta(table) is None
    assert not measures.holds("beta-likeness", table, beta=4)


def test_the_enhanced_bound_is_met_to_the_last_row():
    # p = 1/2: f(p) = (1 + ln 2)/2 = .84657...
    reference = {"a": 1, "b": 1}
    assert likeness.beta_holds({"a": 84657, "b": 15343}, reference, F(4))
    assert not likeness.beta_holds({"a": 84658, "b": 15342}, reference, F(4))


def test_the_two_sided_form_bounds_a_fall_and_forbids_absence():
    reference = {"a": 1, "b": 3}
    assert likeness.beta_achieved({"a": 1, "b": 9}, reference, enhanced=False, two_sided=True) == F(3, 2)
    assert likeness.beta_achieved({"a": 1, "b": 9}, reference, enhanced=False) == F(1, 5)
    assert likeness.beta_achieved({"b": 1}, reference, enhanced=False, two_sided=True) is None
    # Enhanced, p = 3/4: the bound is -ln(3/4) = .2877.  q = 1/2 falls by p/q - 1 = 1/2, within beta but not within that.
    assert likeness.beta_achieved({"a": 1, "b": 1}, reference, two_sided=True) is None
    assert not likeness.beta_holds({"a": 1, "b": 1}, reference, F(1), two_sided=True)
    assert likeness.beta_holds({"a": 1, "b": 1}, reference, F(1))


def test_delta_disclosure_is_strict():
    table = [{"a": 2, "b": 1}, {"a": 1, "b": 2}, {"a": 3, "b": 3}]
    assert measures.holds("delta-disclosure", [{"a": 2}, {"b": 2}], delta="1.01", base=2, absent="ignore")
    assert not measures.holds("delta-disclosure", [{"a": 2}, {"b": 2}], delta=1, base=2, absent="ignore")
    assert not measures.holds("delta-disclosure", [{"a": 2}, {"b": 2}], delta=50)
    halved = [{"a": 1, "b": 3}, {"a": 3, "b": 1}]
    assert measures.holds("delta-disclosure", halved, delta="1.01", base=2)
    assert not measures.holds("delta-disclosure", halved, delta=1, base=2)
    assert measures.delta(table) == pytest.approx(math.log(3 / 2))
    assert measures.holds("delta-disclosure", table, delta="0.4055")
    assert not measures.holds("delta-disclosure", table, delta="0.4054")


def test_logarithms_are_compared_beyond_double_precision():
    assert compare_ln(F(2), exact("0.69314718055994530941723212145817656807550013436025")) == 1
    assert compare_ln(F(2), exact("0.69314718055994530941723212145817656807550013436026")) == -1
    assert compare_ln(F(1), F(0)) == 0
    assert [compare_log2(F(1, 8), F(b)) for b in (-4, -3, -2)] == [1, 0, -1]
    assert compare_log2(F(3), exact("1.58496250072115618145373894394781650875")) == 1
    assert compare_log2(F(1, 3), exact("-1.58496250072115618145373894394781650875")) == -1


def test_a_null_never_helps_and_null_rows_may_not_hide_a_concentration():
    table = [{"a": 1, "b": 1, None: 2}]
    assert measures.distinct_l(table) == 2
    assert measures.probabilistic_l([{"a": 2, "b": 1, None: 3}]) == F(3, 2)
    assert measures.probabilistic_l([{"a": 1, "b": 1, None: 6}]) == F(8, 6)
    assert measures.distinct_l([{"a": 1, "b": 1}, {None: 5}]) == 0
    assert measures.k_anonymity([{"a": 1, "b": 1}, {None: 5}]) == 2
    assert measures.entropy_l(table) == pytest.approx(2)
    # With the nulls, a has q = p in both groups; without them it fills the first.
    hiding = [{"a": 1, None: 1}, {"a": 1, "b": 1}]
    assert measures.beta(hiding, enhanced=False) == 1
    assert measures.t_closeness(groups.without_null(hiding)) == F(1, 3)


def test_k_map_counts_the_population_under_each_label():
    columns = [labels.describe("numeric", [20, 30, 40]), labels.describe("categorical", ["m", "f"])]
    population = [(20, "m"), (25, "f"), (29, "m"), (30, "m"), (None, "f")]
    assert measures.k_map([("[20, 29]", "*"), ("30", "m")], population, columns) == 1
    assert measures.k_map([("[20, 30]", "m"), ("*", "*")], population, columns) == 3


def test_average_information_loss_of_two_boxes_of_patients_is_seven_twelfths():
    columns = [labels.describe("numeric", [cells[j] for cells, _ in PATIENTS]) for j in (0, 1)]
    sizes = {("[50, 70]", "[40, 50]"): 3, ("[60, 80]", "[50, 70]"): 3}
    assert loss.ail(sizes, columns) == (F(1, 2) + F(2, 3)) / 2
    assert loss.ail(sizes, columns, weights=[F(1), F(0)]) == F(2, 3)
    assert loss.ail(sizes, columns, withheld=6) == (F(7, 12) + 1) / 2
    assert loss.discernibility(sizes) == loss.discernibility_star(sizes) == 18
    assert loss.discernibility(sizes, withheld=2) == 18 + 2 * 8
    assert loss.c_avg(sizes, k=3) == 1


def test_categorical_loss_and_precision_follow_the_lowest_common_ancestor():
    column = labels.describe("categorical", ["flu", "cancer"], hierarchy=DISEASE_TREE)
    given = ["flu", "{flu, pneumonia}", "infection", "{flu, edema}", "respiratory", "*", None]
    assert [loss.label_loss(label, column) for label in given] == [0, F(3, 10), F(3, 10), F(1, 2), F(1, 2), 1, 0]
    assert [loss.label_height(label, column) for label in given] == [0, F(1, 3), F(1, 3), F(2, 3), F(2, 3), 1, 0]
    assert loss.precision({("flu",): 1, ("infection",): 3}, [column]) == F(3, 4)


def test_a_null_is_one_more_leaf_of_its_column():
    column = labels.describe("categorical", ["flu", None], hierarchy=DISEASE_TREE)
    assert loss.label_loss("infection", column) == F(3, 11)
    assert loss.label_loss("*", labels.describe("categorical", ["a", None])) == 1
    assert loss.label_loss("*", labels.describe("categorical", ["a"])) == 0


def test_non_uniform_entropy_charges_rare_values_more():
    column = labels.describe("categorical", ["a", "a", "a", "b"])
    rows = [(("*",), (value,)) for value in "aaab"]
    assert loss.non_uniform_entropy(rows, [column]) == pytest.approx(3 * math.log2(4 / 3) + 2)
    assert loss.non_uniform_entropy([(("a",), ("a",)), (("b",), ("b",))], [column]) == 0


def test_the_number_of_groupings_is_bells_number():
    assert [sum(1 for _ in feasibility.partitions(range(n))) for n in range(7)] == [1, 1, 2, 5, 15, 52, 203]


def test_the_least_loss_of_four_ages_in_pairs_is_one_in_twenty_one():
    rows = [((age,), "s") for age in (20, 21, 40, 41)]
    columns = [labels.describe("numeric", [20, 21, 40, 41])]
    assert feasibility.least_loss(rows, columns, lambda g: measures.holds("k-anonymity", g, k=2)) == F(1, 21)
    assert feasibility.least_loss(rows, columns, lambda g: measures.holds("k-anonymity", g, k=3)) == 1
    assert feasibility.least_loss(rows, columns, lambda g: measures.holds("k-anonymity", g, k=5)) is None


def test_the_cheapest_1_like_grouping_of_paper_1s_patients_loses_five_twelfths():
    # {Bob, John, Carol} loses (1/3 + 2/3)/2 and {Mike, Alice, Beth} (1/3 + 1/3)/2: one from each bucket of example 1.
    columns = [labels.describe("numeric", [cells[j] for cells, _ in PATIENTS]) for j in (0, 1)]
    best = feasibility.least_loss(PATIENTS, columns, lambda g: measures.holds("beta-likeness", g, beta=1))
    assert best == F(5, 12)
