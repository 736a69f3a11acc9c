"""The experiments of Cao & Karras, "Publishing Microdata with a Robust Privacy Guarantee" (VLDB 2012), sections 6 and 7."""
