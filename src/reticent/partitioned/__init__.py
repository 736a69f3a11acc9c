"""Publishing a table whose cells outgrow one machine (ADR 10): what is held in one place is small, whatever the rows.

Cells are counted into parts and stay there; the publishing process holds the distinct values of each column, a sample
of the cells, the coarse cuts, the totals of the whole table, the summary of each region's plan, and one bucket of rows
at a time while it is written.
"""

from reticent.partitioned.pipeline import PartitionedTable as PartitionedTable
