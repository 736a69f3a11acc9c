"""Paper 2: Xu, Wang, Fu & Wong, "Publishing skewed sensitive microdata"."""

from tests.papers.coverage.item import (
    BUILT,
    CORRECTED,
    FAILS,
    HOLDS,
    NO_CLAIM,
    SOMETIMES,
    TEXT,
    Item,
    Paper,
    Section,
    number,
)

SECTION_1 = Section(
    "1 Introduction",
    (
        Item(
            "Example 1, Figure 1",
            "minimum suppression tells which value led",
            BUILT,
            HOLDS,
            "6 records are withheld, and two values are left as candidates where l = 3.",
            code=("attacks/eligibility/attack.py:attack_by_eligibility",),
            checks=(
                "papers/test_skewed.py:test_example_1_minimum_suppression_withholds_6_and_leaves_two_candidates",
                "papers/test_skewed.py:test_the_figures_of_example_1_in_one_table",
            ),
        ),
    ),
)

SECTION_2 = Section(
    "2 Problem statement",
    (
        Item("Table 1", "notations", TEXT, NO_CLAIM, "The [glossary](glossary.md) has our words."),
        Item(
            "l-eligibility",
            "no value in more than one in l records",
            BUILT,
            CORRECTED,
            "A table that is eligible already is returned as it is: the strict test of candidacy would cut it.",
            code=("methods/suppression/kinds.py:is_eligible", "methods/suppression/stage.py:Suppression"),
            checks=(
                "papers/test_skewed.py:test_errata_2_2_an_eligible_table_is_left_alone",
                "methods/test_suppression.py:test_the_stage_leaves_an_eligible_table_and_conserves_rows",
            ),
        ),
        Item(
            "Adversary knowledge",
            "the algorithm, |T|, and not which value leads",
            BUILT,
            NO_CLAIM,
            "The attack computes what such an adversary believes, exactly where it can, for four priors over tables; also of "
            "a person who was withheld, which the paper does not ask.",
            code=(
                "attacks/eligibility/attack.py:compute_posterior",
                "attacks/eligibility/attack.py:compute_withheld_posterior",
                "attacks/eligibility/suppressed_tables.py:CountPrior",
            ),
            checks=(
                "papers/test_skewed.py:test_the_attack_is_the_oracles",
                "attacks/test_eligibility_enumeration.py:"
                "test_r_suppression_counted_is_enumeration_on_every_release_of_up_to_20_records",
                "attacks/test_eligibility_suppression.py:test_the_posterior_of_a_withheld_person_is_the_oracles",
                "oracle/skewed.py:attack",
            ),
        ),
        Item(
            "Definition 1",
            "l-dichotomy: P-eligibility and S-ambiguity",
            BUILT,
            NO_CLAIM,
            "A promise that only sound suppressions keep ([l-dichotomy](promises/l-dichotomy.md)).",
            code=("models/l_dichotomy.py:LDichotomy", "audit/measure/dichotomy.py:judge_dichotomy"),
            checks=("methods/test_suppression.py:test_l_dichotomy_is_kept_by_sound_kinds_only",),
        ),
        Item(
            "Definition 2, Corollary 1",
            "l-candidacy, which S-ambiguity implies",
            BUILT,
            HOLDS,
            "The converse is false, as the paper says.",
            code=("methods/suppression/kinds.py:find_stops",),
            checks=(
                "papers/test_skewed.py:test_example_1_minimum_suppression_withholds_6_and_leaves_two_candidates",
                "oracle/skewed.py:l_candidate",
            ),
        ),
    ),
)

SECTION_3 = Section(
    "3 Deterministic suppression",
    (
        Item(
            "Figure 2, Example 2",
            "D-suppression",
            BUILT,
            CORRECTED,
            "Of tied values the one less frequent in the table goes first. Where it stops is found by bisection over levels, "
            "not record by record; P-eligibility is not monotone, so both conditions are tried at every step.",
            code=("methods/suppression/kinds.py:find_stops", "methods/suppression/kinds.py:cut_counts"),
            checks=(
                "papers/test_skewed.py:test_example_2_the_less_frequent_of_tied_values_goes_first",
                "methods/test_suppression.py:test_stopping_by_levels_is_stopping_step_by_step",
                "oracle/skewed.py:d_suppression",
            ),
        ),
        Item(
            "Property 1",
            "order is preserved, a level is reached with the least suppression",
            BUILT,
            HOLDS,
            "Enumerated over all subtables of 80 tables.",
            checks=(
                "papers/test_skewed.py:test_property_1_order_is_preserved_and_a_level_reached_with_least_suppression",
            ),
        ),
        Item(
            "Theorem 1",
            "safe D-suppression stops at the start of level F_l",
            BUILT,
            HOLDS,
            "And its posterior is at most 1/l under every prior that knows no value by name.",
            code=("methods/suppression/kinds.py:SafeSuppression",),
            checks=(
                "papers/test_skewed.py:test_theorem_1_safe_stops_where_l_values_first_share_the_highest_level",
                "papers/test_skewed.py:test_safe_never_exceeds_1_over_l",
                "attacks/test_eligibility_suppression.py:test_safe_never_tells_more_than_one_in_l_of_a_withheld_person",
            ),
        ),
        Item(
            "Example 3, Theorem 2",
            "unsafe D-suppression: nothing that meets both conditions withholds less",
            BUILT,
            HOLDS,
            'A lower bound and no protection: `kind = "unsafe"` is refused unless acknowledged. So is `kind = "eligible"`, ours, '
            "the least that meets the first condition alone.",
            code=(
                "methods/suppression/kinds.py:UnsafeSuppression",
                "methods/suppression/kinds.py:EligibleSuppression",
            ),
            checks=(
                "papers/test_skewed.py:test_example_3_unsafe_stops_at_level_4_after_6_and_safe_at_level_2_after_10",
                "papers/test_skewed.py:test_theorem_2_nothing_eligible_and_candidate_withholds_less_than_unsafe",
                "methods/test_suppression.py:test_unsafe_passes_when_acknowledged",
                "methods/test_suppression.py:test_nothing_eligible_withholds_less_than_eligible",
            ),
        ),
    ),
)

SECTION_4 = Section(
    "4 Randomized suppression",
    (
        Item(
            "Figure 3, Example 4",
            "R-suppression",
            BUILT,
            CORRECTED,
            "As printed, but for l = m, where a level of 0 could empty the table: 1 is the lowest.",
            code=("methods/suppression/kinds.py:RandomizedSuppression",),
            checks=(
                "papers/test_skewed.py:test_example_4_h_2_and_level_3_publish_3_3_2_1_1",
                "papers/test_skewed.py:test_errata_2_3_with_l_equal_to_m_no_value_vanishes",
                "oracle/skewed.py:randomized",
            ),
        ),
        Item(
            "Example 5",
            "three reconstructions, so a posterior of 1/3",
            BUILT,
            FAILS,
            "The three are plausible, and there are more: if every plausible table is as likely, the posterior of one value "
            "is 7/16 ([erratum](errata.md#r-suppression-does-not-keep-s-ambiguity)).",
            checks=(
                "papers/test_skewed.py:test_example_5_every_reconstruction_is_plausible",
                "papers/test_skewed.py:test_example_5_is_not_ambiguous_even_if_every_plausible_table_is_equally_likely",
            ),
        ),
        Item(
            "Theorem 3, Theorem 5, Lemma 1",
            "R-suppression keeps l-dichotomy",
            BUILT,
            FAILS,
            "An adversary who knows the algorithm reaches 18/25 where 1/2 is promised (12 records, 4 values, l = 2). Lemma 1 "
            "takes outcomes that are possible to be equally likely. No violation was seen for l = m. "
            "[`calibrated`](methods/suppression.md#calibrated) is ours: sound under one prior, which a job has to name, and up "
            "to certain where records are independent. `safe` is the default.",
            code=("methods/suppression/calibrated_kind.py:CalibratedSuppression",),
            checks=(
                "papers/test_skewed.py:test_errata_2_1_theorem_3_fails_against_a_bayesian_adversary",
                "papers/test_skewed.py:test_errata_2_1_no_violation_is_seen_for_l_equal_to_m",
                "papers/test_skewed.py:test_calibrated_never_exceeds_1_over_l_under_its_prior",
                "papers/test_skewed.py:test_calibrated_can_exceed_1_over_l_under_another_prior",
                "studies/skewed/results/posterior-small.csv",
                "studies/skewed/results/posterior-zipf.csv",
                "studies/skewed/results/posterior-adult.csv",
                "studies/skewed/results/posterior-priors.csv",
                "studies/skewed/results/real-kinds.csv",
                "studies/skewed/results/priors-growing.csv",
                "papers/test_skewed.py:test_calibrated_tells_nearly_all_where_records_are_independent_and_safe_does_not",
            ),
        ),
    ),
)

SECTION_5 = Section(
    "5 Optimality of R-suppression",
    (
        Item(
            "Theorem 4",
            "R-suppression withholds the least on average in its family",
            BUILT,
            HOLDS,
            "On all 8,660 pairs of an l and a violating table of up to 24 records in 2 to 6 values no distribution of h with "
            "probabilities of at most 1/l withholds less; on those of up to 14 records in 2 to 5 values no second step does "
            "either, over all subtables. It is about levels drawn evenly from their interval: the highest level of each "
            "withholds 7 instead of 71/9 records of figure 1's table. And R-suppression is of the family only if theorem 3 "
            "holds, which it does not: as a bound on what its members withhold the theorem stands.",
            code=("methods/suppression/kinds.py:RandomizedSuppression.compute_expected_withheld",),
            checks=(
                "papers/test_skewed.py:test_theorem_4_no_distribution_of_h_withholds_less_than_r_suppression",
                "papers/test_skewed.py:test_theorem_4_no_second_step_withholds_less_than_d_suppression",
                "papers/test_skewed.py:test_theorem_4_is_about_levels_that_are_drawn_evenly",
                "oracle/skewed.py:least_mean_withheld",
                "oracle/skewed.py:withheld_at_least",
            ),
        ),
    ),
)

SECTION_6 = Section(
    "6 Empirical study",
    (
        Item(
            "Figure 4",
            "distributions of Adult's columns: occupation is the least skewed",
            BUILT,
            HOLDS,
            "Its most frequent value has 13.4 % of 30,162 people, as printed; the next column, education, 32.6 %, and "
            "native-country 91.2 %.",
            checks=(
                "studies/skewed/results/4.csv",
                "studies/test_skewed.py:test_occupation_is_the_least_skewed_of_adults_columns",
            ),
        ),
        Item(
            "Figure 5",
            "small samples and large l violate eligibility, up to 40 %",
            BUILT,
            HOLDS,
            "33 to 38 of 100 samples at p = 0.5 %, l = 6, by five seeds.",
            checks=(
                "studies/skewed/results/5.csv",
                "studies/test_skewed.py:test_a_third_of_a_hundred_small_samples_violates_6_eligibility_by_every_seed",
            ),
        ),
        Item(
            "Figure 6, Figure 7",
            "R-suppression withholds little more than the lower bound, safe much more",
            BUILT,
            HOLDS,
            "3.3 % against 3.0 % and 8.6 % at p = 0.5 %, l = 6, means of five seeds; the paper has below 3 and above 10.",
            checks=("studies/skewed/results/6.csv", "studies/skewed/results/7.csv"),
        ),
        Item(
            "Figure 8",
            "Zipf counts: about 20 % below safe, near the lower bound",
            BUILT,
            SOMETIMES,
            "11 to 20 points below safe; near the bound at both ends. Unsafe falls from l = 4 to 6 and rises to 10, as printed.",
            checks=(
                "studies/skewed/results/8a.csv",
                "studies/skewed/results/8b.csv",
                "studies/test_skewed.py:test_unsafe_falls_from_l_4_to_6_and_rises_to_10",
            ),
        ),
        Item(
            "Linear distributions",
            "the same trend as Zipf's, with fewer violations",
            BUILT,
            SOMETIMES,
            "The paper omits its results. Counts 1000, 900, ... 100 and then 1 of 20 values violate eligibility from l = 6 on, "
            "Zipf's from 4 on. R-suppression is near the lower bound there, and 19 to 24 points below safe at l = 6 to 8; with "
            "a slope of .2 at l = 5 it withholds more than safe, 67.7 % against 66.3 %.",
            checks=(
                "studies/skewed/results/linear-l.csv",
                "studies/skewed/results/linear-slope.csv",
                "studies/test_skewed.py:test_linear_counts_violate_eligibility_at_fewer_l_than_zipf_counts",
            ),
        ),
    ),
    study="skewed",
)

PAPER = Paper(
    "Skewed sensitive data",
    'Xu, Wang, Fu & Wong, "Publishing skewed sensitive microdata"',
    (
        *number("Definition", range(1, 3)),
        "Corollary 1",
        "Property 1",
        "Lemma 1",
        *number("Theorem", range(1, 6)),
        *number("Example", range(1, 6)),
        *number("Figure", range(1, 9)),
        "Table 1",
    ),
    (SECTION_1, SECTION_2, SECTION_3, SECTION_4, SECTION_5, SECTION_6),
)
