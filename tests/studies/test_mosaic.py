from studies.mosaic.run import PROMISES, curves, save
from tests.support.mosaic_plans import table


def test_curves_fall_and_are_drawn(tmp_path):
    asked = {name: PROMISES[name] for name in ("k 5", "enhanced beta 2")}
    rows = list(curves(table(400), (0.5, 1.0), asked))
    for name in asked:
        losses = [
            round(row["loss"], 12) for row in rows if row["method"] == name
        ]  # equal losses may differ in the last bit
        assert losses == sorted(losses, reverse=True) and losses
    save(tmp_path, "small", rows)
    assert (tmp_path / "small.csv").read_text().count("\n") == len(rows) + 1
    assert "enhanced beta 2" in (tmp_path / "small.svg").read_text()
