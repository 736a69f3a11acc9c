"""Eligibility attack: what an adversary who knows the suppression algorithm infers about the withheld rows (paper 2).

candidate_tables   the tables that can lie behind a release: counted in closed form, listed, or enumerated; priors
posterior_bounds   posteriors, bounds for calibrated suppression, and sampling with intervals attack             the
attack on counts and on a release, and the risk of a suppression
"""
