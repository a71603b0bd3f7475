from dataclasses import replace

import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from ddtree_doctor.replay.catalogue import Ground, catalogue
from ddtree_doctor.replay.shapes import TREES

grounds = st.builds(
    Ground,
    width=st.integers(1, 66),
    sizes=st.sets(st.integers(1, 32), min_size=1, max_size=5).map(lambda sizes: tuple(sorted(sizes))),
    context=st.integers(80, 300),
    vocabulary=st.just(256),
    page_size=st.sampled_from([1, 16, 64]),
    shapes=st.sets(st.sampled_from(sorted(TREES)), min_size=1).map(lambda names: tuple(sorted(names))),
)
FULL = Ground(width=33, sizes=(1, 2, 4), context=128, vocabulary=256, page_size=16, shapes=tuple(TREES))


@given(grounds, st.integers(0, 5))
@example(FULL, 0)
@example(replace(FULL, context=35), 0)
def test_every_batch_fits_the_graphs_and_the_context(ground, seed):
    for scenario in catalogue(ground, seed=seed):
        for batch in scenario.batches:
            assert batch.size <= max(ground.sizes)
            assert batch.width == ground.width
            assert all(request.prefix + ground.width <= ground.context for request in batch.requests)


@given(grounds)
def test_every_captured_size_every_shape_and_the_longest_prefix_occur(ground):
    scenarios = catalogue(ground)
    batches = [batch for scenario in scenarios for batch in scenario.batches]
    assert {batch.size for batch in batches} >= set(ground.sizes)
    assert {f"tree/{shape}" for shape in ground.shapes} <= {scenario.name for scenario in scenarios}
    assert max(request.prefix for batch in batches for request in batch.requests) == ground.longest


def test_sizes_between_captured_ones_shrinking_and_a_finished_request_occur():
    by_name = {scenario.name: scenario for scenario in catalogue(FULL)}
    assert by_name["between/3"].batches[0].size == 3
    assert [batch.size for batch in by_name["shrink"].batches] == [4, 3, 1]
    assert [batch.size for batch in by_name["grow"].batches] == [1, 3, 4]
    slots = [[request.slot for request in batch.requests] for batch in by_name["finish-in-the-middle"].batches]
    assert slots == [[0, 1, 2], [0, 2], [2, 3]]


def test_two_different_trees_stand_in_one_batch_that_is_held_against_its_paths():
    (batch,) = next(scenario.batches for scenario in catalogue(FULL) if scenario.name == "tree/two")
    first, second = batch.requests
    assert (first.prefix, first.tree.parents) != (second.prefix, second.tree.parents)


@given(grounds)
def test_names_are_unique_and_the_same_seed_gives_the_same_scenarios(ground):
    scenarios = catalogue(ground)
    assert len({scenario.name for scenario in scenarios}) == len(scenarios)
    assert catalogue(ground) == scenarios


def test_a_context_without_room_is_refused():
    with pytest.raises(ValueError, match="no room"):
        catalogue(Ground(width=33, sizes=(1,), context=34, vocabulary=256, page_size=1, shapes=("chain",)))
