"""Mining of perturbed releases: decision trees on reconstructed class histograms (Tao et al. 2008, section II-C). Extra
`stats`.
"""

from reticent.utility.mining.tree import ReconstructingTree as ReconstructingTree
from reticent.utility.mining.tree import optimistic as optimistic
from reticent.utility.mining.tree import pessimistic as pessimistic
