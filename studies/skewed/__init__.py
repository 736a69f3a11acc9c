"""The experiments of "Publishing Skewed Sensitive Microdata" (Xu, Wang, Fu & Wong)."""
