from ddtree_doctor.triage.model import Number
from ddtree_doctor.triage.reading import assumed, no, verified

ROW = ("width", "shape-width-mismatch")


def test_the_three_fits():
    assert verified(ROW, "why", (8, "block")).numbers == (Number(value=8, meaning="block"),)
    assert assumed(ROW, "why", ("args",), (8, "block")).missing == ("args",)
    assert no(ROW, "why").fit == "no"
    assert {each(ROW, "w", *rest).fault_class for each, rest in ((verified, ()), (assumed, ((),)), (no, ()))} == {
        ROW[1]
    }
