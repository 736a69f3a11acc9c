"""The preset acme:strict: tables of a job, which `reticent init --preset acme:strict` writes into its draft."""

from reticent.catalogue import PresetRow

ROW = PresetRow(
    {
        "promise": [{"model": "k-anonymity", "k": 10}, {"model": "distinct-l-diversity", "l": 3}],
        "method": {"name": "mosaic"},
        "release": {"undeclared": "drop", "loss_at_most": "0.8"},
    },
    "The house rule of acme: ten people a group, three illnesses in each, and no table that keeps less than a fifth.",
)
