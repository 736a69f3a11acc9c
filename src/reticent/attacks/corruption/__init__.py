"""Attacks with corruption: an adversary who has learned true values of other people (Tao, Xiao, Li & Zhang, ICDE 2008, section V)."""

from reticent.attacks.corruption.attack import corruption as corruption
from reticent.attacks.corruption.posterior import Situation as Situation
