"""Minimality attack: what an adversary infers who knows the method that grouped people, and not its secret key.

publisher          runs the method of a release again on other tables of the same people candidate_tables   the tables
that may lie behind a release, and what is concluded from those that publish it again attack             runs the attack
and scores it
"""
