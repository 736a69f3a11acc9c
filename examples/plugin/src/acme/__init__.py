"""A plugin of reticent: nothing is imported here, because reticent imports only what is asked for."""
