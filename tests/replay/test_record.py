from hypothesis import given
from hypothesis import strategies as st

from ddtree_doctor.replay.record import EPSILON, Gap, tolerance

sizes = st.floats(0, 1e6)
dtypes = st.sampled_from(sorted(EPSILON))


@given(sizes, sizes, dtypes)
def test_what_is_allowed_covers_the_measured_spread_and_rounding(spread, scale, dtype):
    allowed = tolerance(spread, scale, dtype)
    assert allowed >= spread
    assert allowed >= EPSILON[dtype] * scale


@given(sizes, sizes, sizes, dtypes)
def test_more_noise_never_turns_agreement_into_a_difference(largest, spread, scale, dtype):
    quiet = Gap(largest=largest, scale=scale, spread=spread)
    noisy = Gap(largest=largest, scale=scale, spread=2 * spread)
    assert noisy.agrees(dtype) or not quiet.agrees(dtype)
