"""The experiments of paper 5: perturbed generalization (Tao, Xiao, Li & Zhang, ICDE 2008, section VII)."""
