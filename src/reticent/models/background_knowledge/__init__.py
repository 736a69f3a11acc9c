"""An adversary with background knowledge (Li, Li & Zhang, ICDE 2009): how much does a release move their beliefs?

distances    distance of two values of a column (section II-C), as exact fractions, and the kernel weights made of it
priors       prior beliefs by equation 2 at every combination of quasi-identifiers, by two routes
posteriors   beliefs after seeing groups: Omega-estimate, balanced, exact (section III); divergences (section IV-B)
adversary    an adversary bound to cells, and the judge that decides whether groups keep a promise
bt_privacy   the promises: (B,t)-privacy and its skyline, their parameters, warnings and advice
"""
