"""The spark engine: tables larger than a machine.  Nothing of Spark is imported until it is used."""

from reticent.engines.spark.engine import Spark as Spark

ENGINE = Spark()
