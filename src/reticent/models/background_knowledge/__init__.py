"""An adversary with background knowledge (Li, Li & Zhang, ICDE 2009): distances, kernels, priors, posteriors, and how far they are apart.

distances    how far two values of a column are from each other (section II-C), as exact fractions
weights      the kernel functions by name, and a bandwidth for each column
priors       equation 2 at every combination of quasi-identifiers, by two routes
beliefs      the posterior: Omega-estimate, balanced, exact (section III)
divergence   how far a belief moved (section IV-B)
adversary    all of it bound to cells
"""
