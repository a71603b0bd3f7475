import pytest

pytestmark = pytest.mark.engine


@pytest.mark.parametrize("run", ["inside", "masked"])
def test_active_lanes_inside_their_tensors_are_silent(interpreted, run):
    assert interpreted[run]["count"] == 0
    assert interpreted[run]["launches"] == 1


@pytest.mark.parametrize(
    ("run", "access", "argument", "offset", "size"),
    [("load", "load", "source", 24, 24), ("store", "store", "target", 24, 24), ("atomic", "atomic", "target", 8, 8)],
)
def test_one_lane_past_the_end_is_named_with_kernel_argument_and_offset(
    interpreted, run, access, argument, offset, size
):
    (stray,) = interpreted[run]["strays"]
    assert (stray["access"], stray["argument"], stray["offset"], stray["size"]) == (access, argument, offset, size)
    assert stray["lanes"] == 1
    assert stray["kernel"] == ("bump" if run == "atomic" else "double")


def test_what_a_table_of_addresses_points_to_may_be_touched(interpreted):
    assert interpreted["pointed"]["count"] == 0


def test_one_lane_past_the_end_of_what_a_table_points_to_is_named(interpreted):
    assert interpreted["pointed_beyond"]["count"] == 2
    stray = interpreted["pointed_beyond"]["strays"][0]
    assert (stray["access"], stray["argument"], stray["offset"]) == ("store", "what table points to", 16)


def test_a_stray_store_does_not_reach_memory(interpreted):
    assert interpreted["kept_from_memory"] == [-1.0, -1.0]
    assert interpreted["untouched"]


def test_launches_on_a_tape_are_watched(interpreted):
    assert [stray["access"] for stray in interpreted["tape_watched"]["strays"]] == ["store"]


def test_by_whole_memory_a_view_ends_where_its_storage_does(interpreted):
    assert interpreted["whole_memory"]["count"] == 0
    (stray,) = interpreted["beyond_whole_memory"]["strays"]
    assert (stray["access"], stray["size"]) == ("store", 256)
