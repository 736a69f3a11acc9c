"""beta-likeness by perturbation (paper 1, section 5)."""

from reticent.methods.beta_perturbation.method import BetaPerturbation as BetaPerturbation
