import json

import pytest
from hypothesis import given
from hypothesis import strategies as st

from ddtree_doctor.replay.scenario import Batch, Request, Scenario
from ddtree_doctor.replay.shapes import TREES, tree_of

trees = st.builds(tree_of, st.sampled_from(sorted(TREES)), st.just(5), st.just(16), st.integers(0, 99))
requests = st.builds(Request, slot=st.integers(0, 9), prefix=st.integers(1, 50), tree=trees)
batches = st.lists(requests, min_size=1, max_size=4, unique_by=lambda r: r.slot).map(
    lambda rs: Batch(requests=tuple(rs))
)
scenarios = st.builds(
    Scenario, name=st.text(max_size=8), batches=st.tuples(batches), page_size=st.sampled_from([1, 16, 64])
)


@given(scenarios)
def test_a_scenario_goes_to_json_and_back_unchanged(scenario):
    assert Scenario.from_json(json.loads(json.dumps(scenario.to_json()))) == scenario


def test_requests_of_one_batch_have_one_width_and_slots_of_their_own():
    one = Request(slot=0, prefix=1, tree=tree_of("chain", 3, 16, 0))
    with pytest.raises(ValueError, match="one width"):
        Batch(requests=(one, Request(slot=1, prefix=1, tree=tree_of("chain", 4, 16, 0))))
    with pytest.raises(ValueError, match="share a slot"):
        Batch(requests=(one, one))
    with pytest.raises(ValueError, match="none"):
        Batch(requests=())


def test_committed_tokens_are_never_lost():
    def batch(prefix):
        return Batch(requests=(Request(slot=0, prefix=prefix, tree=tree_of("chain", 3, 16, 0)),))

    Scenario(name="grows", batches=(batch(4), batch(5)))
    with pytest.raises(ValueError, match="slot 0 loses"):
        Scenario(name="shrinks", batches=(batch(5), batch(4)))


def test_a_request_without_a_committed_token_is_refused():
    with pytest.raises(ValueError, match="at least 1"):
        Request(slot=0, prefix=0, tree=tree_of("chain", 3, 16, 0))
