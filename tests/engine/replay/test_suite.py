import pytest
from hypothesis import given
from hypothesis import strategies as st

pytest.importorskip("torch")

from ddtree_doctor.engine.replay.suite import levelled
from ddtree_doctor.replay.record import Gap, Pass

pytestmark = pytest.mark.engine

sizes = st.floats(0, 1e3)
gaps = st.none() | st.builds(Gap, largest=sizes, scale=sizes, spread=sizes)
passes = st.lists(st.builds(Pass, scenario=st.text(max_size=5), step=st.just(0), bs=st.just(1), replay=gaps, path=gaps))


@given(passes)
def test_every_comparison_is_granted_the_largest_noise_of_its_kind(given_passes):
    for kind in ("replay", "path"):
        found = [getattr(one, kind) for one in levelled(given_passes)]
        before = [getattr(one, kind) for one in given_passes]
        most = max((one.spread for one in before if one), default=0.0)
        assert [one and one.spread for one in found] == [one and most for one in before]
        assert [one and one.largest for one in found] == [one and one.largest for one in before]


@given(passes)
def test_levelling_twice_is_levelling_once(given_passes):
    once = levelled(given_passes)
    assert levelled(once) == once
