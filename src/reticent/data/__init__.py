"""From a file or a frame to cells: roles, sources, hierarchies, domains, codec."""
