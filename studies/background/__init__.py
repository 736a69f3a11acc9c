"""The experiments of "Modeling and Integrating Background Knowledge in Data Anonymization"."""
