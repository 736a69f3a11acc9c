"""The contract of reticent, held to what this plugin brings."""

from reticent.testing import check_attack, check_method, check_promise


def test_slices_is_a_method():
    check_method("acme:slices")


def test_crowds_is_a_promise_that_its_judge_and_an_oracle_agree_about():
    check_promise(
        {"model": "acme:crowds", "least": 4},
        oracle=lambda groups, least: all(sum(group.values()) >= least for group in groups),
    )


def test_shrug_is_an_attack():
    check_attack("acme:shrug")
