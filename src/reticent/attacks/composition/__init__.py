"""Composition attack: what several releases of the same people reveal of each person together.

alignment       lays several releases over one table of people joint_beliefs   computes what they imply together,
exactly or balanced attack          runs the attack and scores it
"""
