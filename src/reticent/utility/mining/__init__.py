"""Mining of perturbed releases: decision trees on reconstructed class histograms. Extra `stats`.

The method is that of Tao et al. 2008, section II-C.
"""

from reticent.utility.mining.tree import ReconstructingTree as ReconstructingTree
from reticent.utility.mining.tree import optimistic as optimistic
from reticent.utility.mining.tree import pessimistic as pessimistic
