"""Drawings of figures as SVG without script, fonts or anything fetched, and the style sheet that gives them their colours.

`svg` has the pieces (a plot, its scales and ticks), `plots` the charts that a report, a notebook and other pages show.
"""
