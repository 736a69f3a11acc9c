"""A command or option that is not there is answered with one that is."""

from __future__ import annotations

import re

import pytest

from reticent.cli.failures import COMMANDS_FOR_OTHER_WORDS
from tests.support.command_line import place as place
from tests.support.command_line import run as run


def test_sweep_is_told_to_be_an_option_of_compare(run, place):
    refused = run("sweep", "job.toml")
    assert refused.code != 0
    assert "reticent compare JOB --sweep k=5,10,20" in refused.err


@pytest.mark.parametrize("word", list(COMMANDS_FOR_OTHER_WORDS))
def test_a_word_of_another_tool_is_answered_with_a_command_that_is_there(run, place, word):
    refused = run(word, "job.toml")
    assert refused.code != 0
    advised = re.findall(r"`reticent (\w+)", COMMANDS_FOR_OTHER_WORDS[word])
    assert advised
    for command in advised:
        assert run(command, "--help").code == 0
