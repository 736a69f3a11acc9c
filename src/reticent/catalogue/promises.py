"""The row of every promise: its class, its judge, its parameters, and its description."""

from __future__ import annotations

from reticent.catalogue.entries import PromiseRow, RowTable
from reticent.catalogue.promise_fields import PROMISE_FIELDS, PROMISE_RELATIONS

_GROUPS_COMPOSE_REASON = "a person is in one group of each release; few people, or one alone, may be in both"
_VALUES_COMPOSE_REASON = (
    "a person's value is one that the groups of all releases hold; each may hold several and all only one in common"
)
_BELIEFS_COMPOSE_REASON = "each release may lift the belief in a value by what it promises, and these lifts multiply"
_DRAWS_COMPOSE_REASON = (
    "each release draws and perturbs again: a person shown twice is shown with two values, and both lift the belief"
)
_MEASURE_PACKAGE = "reticent.audit.measure"

_PROMISES = {
    "k-anonymity": PromiseRow(
        "reticent.models.k_anonymity:KAnonymity",
        f"{_MEASURE_PACKAGE}.anonymity:judge_k",
        PROMISE_FIELDS["k-anonymity"],
        "Every row is one of at least {k} that read the same in all quasi-identifying columns (k-anonymity).",
        _GROUPS_COMPOSE_REASON,
        doc="Every group has at least k rows.",
    ),
    "alpha-k-anonymity": PromiseRow(
        "reticent.models.k_anonymity:AlphaKAnonymity",
        f"{_MEASURE_PACKAGE}.anonymity:judge_alpha_k",
        PROMISE_FIELDS["alpha-k-anonymity"],
        "Every group has at least {k} rows, and no value of {column} is held by more than {alpha} of them "
        "((alpha,k)-anonymity).",
        _GROUPS_COMPOSE_REASON,
        f"{_MEASURE_PACKAGE}.anonymity:bound_alpha_belief",
        doc="Every group has at least k rows, and no value more than a share alpha of them.",
    ),
    "k-map": PromiseRow(
        "reticent.models.k_anonymity:KMap",
        f"{_MEASURE_PACKAGE}.anonymity:judge_k_map",
        PROMISE_FIELDS["k-map"],
        "Every published combination fits at least {k} people of the population table (k-map).",
        _GROUPS_COMPOSE_REASON,
        doc="The labels of every group cover at least k people of a population table.",
    ),
    "distinct-l-diversity": PromiseRow(
        "reticent.models.l_diversity:DistinctLDiversity",
        f"{_MEASURE_PACKAGE}.diversity:judge_distinct",
        PROMISE_FIELDS["distinct-l-diversity"],
        "Every group shows at least {l} different values of {column} (distinct l-diversity).",
        _VALUES_COMPOSE_REASON,
        doc="Every group shows at least l different values.",
    ),
    "probabilistic-l-diversity": PromiseRow(
        "reticent.models.l_diversity:ProbabilisticLDiversity",
        f"{_MEASURE_PACKAGE}.diversity:judge_probabilistic",
        PROMISE_FIELDS["probabilistic-l-diversity"],
        "In every group each value of {column} is held by at most one in {l} rows (probabilistic l-diversity).",
        _VALUES_COMPOSE_REASON,
        f"{_MEASURE_PACKAGE}.diversity:bound_probabilistic_belief",
        doc="No value has more than one in l rows of a group.",
    ),
    "entropy-l-diversity": PromiseRow(
        "reticent.models.l_diversity:EntropyLDiversity",
        f"{_MEASURE_PACKAGE}.diversity:judge_entropy",
        PROMISE_FIELDS["entropy-l-diversity"],
        "In every group the entropy of {column} is at least that of {l} equally frequent values (entropy l-diversity).",
        _VALUES_COMPOSE_REASON,
        doc="The entropy of every group is at least that of l equally frequent values.",
    ),
    "recursive-l-diversity": PromiseRow(
        "reticent.models.l_diversity:RecursiveLDiversity",
        f"{_MEASURE_PACKAGE}.diversity:judge_recursive",
        PROMISE_FIELDS["recursive-l-diversity"],
        "In every group the most frequent value of {column} is at most {c} times as frequent as all from "
        "the {l}-th on together (recursive (c,l)-diversity).",
        _VALUES_COMPOSE_REASON,
        doc="The most frequent value of a group is at most c times as frequent as all from the l-th on together.",
    ),
    "l-dichotomy": PromiseRow(
        "reticent.models.l_dichotomy:LDichotomy",
        f"{_MEASURE_PACKAGE}.dichotomy:judge_dichotomy",
        PROMISE_FIELDS["l-dichotomy"],
        "No value of {column} is held by more than one in {l} rows, and which value was the most frequent "
        "before rows were withheld cannot be told with a probability above one in {l}, every table from "
        "which rows had to be withheld being equally likely beforehand (l-dichotomy).",
        _BELIEFS_COMPOSE_REASON,
        doc="Of the published values at least l could have been the most frequent one, each with a posterior of at most 1/l.",
    ),
    "t-closeness": PromiseRow(
        "reticent.models.t_closeness:TCloseness",
        f"{_MEASURE_PACKAGE}.closeness:judge_closeness",
        PROMISE_FIELDS["t-closeness"],
        "In every group the distribution of {column} is within {t} of the whole release's, by {distance} "
        "earth mover's distance (t-closeness).",
        _BELIEFS_COMPOSE_REASON,
        doc="The distribution of a group is within t of the table's, by earth mover's distance.",
    ),
    "delta-disclosure": PromiseRow(
        "reticent.models.delta_disclosure:DeltaDisclosure",
        f"{_MEASURE_PACKAGE}.likeness:judge_disclosure",
        PROMISE_FIELDS["delta-disclosure"],
        "In every group each value of {column} is within a factor of the whole release's frequency, |log| <"
        " {delta} (delta-disclosure).",
        _BELIEFS_COMPOSE_REASON,
        doc="|log(q / p)| stays below delta for every value of every group.",
    ),
    "beta-likeness": PromiseRow(
        "reticent.models.beta_likeness:BetaLikeness",
        f"{_MEASURE_PACKAGE}.likeness:judge_likeness",
        PROMISE_FIELDS["beta-likeness"],
        "In every group a value of {column} is at most (1 + {beta}) times as frequent as in the whole release{form} "
        "(beta-likeness{which}).",
        _BELIEFS_COMPOSE_REASON,
        f"{_MEASURE_PACKAGE}.likeness:bound_likeness_belief",
        doc="No group lifts a value of frequency p above p * (1 + min(beta, -ln p)).",
    ),
    "semantic-beta-likeness": PromiseRow(
        "reticent.models.beta_likeness:SemanticLikeness",
        f"{_MEASURE_PACKAGE}.likeness:judge_semantic",
        PROMISE_FIELDS["semantic-beta-likeness"],
        "In every group a family of values of {column} (level {level} of its hierarchy) is at most (1 + {beta}) times as "
        "frequent as in the whole release{form} (semantic beta-likeness{which}).",
        _BELIEFS_COMPOSE_REASON,
        doc="beta-likeness of the nodes at one level of the sensitive column's hierarchy.",
    ),
    "rho-guarantee": PromiseRow(
        "reticent.models.corruption_guarantees:RhoGuarantee",
        f"{_MEASURE_PACKAGE}.corruption:judge_rho",
        PROMISE_FIELDS["rho-guarantee"],
        "Whoever believes beforehand that a person's value of {column} meets some condition with a probability of at most {rho1} "
        "believes it afterwards with at most {rho2}, even knowing the values of everyone else, as long as no single value was "
        "believed with more than {lambda} (rho1-to-rho2 guarantee against corruption).",
        _DRAWS_COMPOSE_REASON,
        f"{_MEASURE_PACKAGE}.corruption:bound_rho_belief",
        PROMISE_RELATIONS["rho-guarantee"],
        doc="A belief of at most rho1 becomes one of at most rho2, whoever else was corrupted.",
    ),
    "delta-growth": PromiseRow(
        "reticent.models.corruption_guarantees:DeltaGrowth",
        f"{_MEASURE_PACKAGE}.corruption:judge_delta",
        PROMISE_FIELDS["delta-growth"],
        "No belief that a person's value of {column} meets some condition grows by more than {delta}, even in who knows the values "
        "of everyone else, as long as no single value was believed with more than {lambda} (Delta-growth guarantee against "
        "corruption).",
        _DRAWS_COMPOSE_REASON,
        doc="No belief grows by more than delta, whoever else was corrupted.",
    ),
    "proximity-beta-likeness": PromiseRow(
        "reticent.models.beta_likeness:ProximityLikeness",
        f"{_MEASURE_PACKAGE}.likeness:judge_proximity",
        PROMISE_FIELDS["proximity-beta-likeness"],
        "In every group the values of {column} in any interval of width {width} are at most (1 + {beta}) times as "
        "frequent as in the whole release{form} (proximity beta-likeness{which}).",
        _BELIEFS_COMPOSE_REASON,
        doc="beta-likeness of the rows in every window of a width.",
    ),
    "p-privacy": PromiseRow(
        "reticent.models.p_privacy:PPrivacy",
        f"{_MEASURE_PACKAGE}.p_privacy:judge_p_privacy",
        PROMISE_FIELDS["p-privacy"],
        "Of a person's value of {column} the release says that it follows the target distribution of the person's group, and no "
        "more (P-privacy).",
        _BELIEFS_COMPOSE_REASON,
        doc="Of the value of a person in a group the release says only that it follows the group's target distribution.",
    ),
    "bt-privacy": PromiseRow(
        "reticent.models.background_knowledge.bt_privacy:BTPrivacy",
        f"{_MEASURE_PACKAGE}.background:judge_bt",
        PROMISE_FIELDS["bt-privacy"],
        "Who already knows how {column} goes with the other columns, as closely as the {kernel} kernel of bandwidth {bandwidth} "
        "shows it, changes their belief about nobody by more than {t} (Jensen-Shannon divergence to base {base}, beliefs "
        "smoothed by {smoothing}, inference by {posterior}; (B,t)-privacy).",
        _BELIEFS_COMPOSE_REASON,
        doc="An adversary of this bandwidth moves no belief by more than t.",
    ),
    "skyline": PromiseRow(
        "reticent.models.background_knowledge.bt_privacy:Skyline",
        f"{_MEASURE_PACKAGE}.background:judge_skyline",
        PROMISE_FIELDS["skyline"],
        "Who already knows how {column} goes with the other columns, as closely as the {kernel} kernel shows it, changes their "
        "belief about nobody by more than t, whichever of these they are: {points} (Jensen-Shannon divergence to base {base}, "
        "beliefs smoothed by {smoothing}, inference by {posterior}; skyline (B,t)-privacy).",
        _BELIEFS_COMPOSE_REASON,
        doc="Several adversaries, each a bandwidth and the t by which it moves no belief further.",
    ),
}
PROMISES = RowTable(_PROMISES)
