"""What releases say besides what they promise about: the adversaries of docs/what-else-it-says.md, measured."""
