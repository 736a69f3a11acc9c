"""Perturbed generalization: perturb, generalize, draw tuples of each group (Tao, Xiao, Li & Zhang, ICDE 2008, section IV)."""

from reticent.methods.perturbed_generalization.method import PerturbedGeneralization as PerturbedGeneralization
