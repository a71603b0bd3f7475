import pytest

pytestmark = pytest.mark.engine


def test_a_replay_computes_what_eager_computes(interpreted):
    tape = interpreted["tape"]
    assert tape["captured"] == [24.0, 24.0]
    assert tape["new_input"] == tape["eager"] == [48.0, 48.0]


def test_what_is_written_in_place_after_capture_is_seen(interpreted):
    tape = interpreted["tape"]
    assert tape["bias_in_place"] == tape["bias_in_place_eager"] == [72.0, 72.0]


def test_what_is_rebound_after_capture_is_not_seen(interpreted):
    tape = interpreted["tape"]
    assert tape["bias_rebound"] == [72.0, 72.0]
    assert tape["bias_rebound_eager"] == [144.0, 144.0]
