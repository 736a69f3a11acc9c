"""The folder that commands run in, and the command line in this process."""

from tests.support.command_line import place as place
from tests.support.command_line import run as run
