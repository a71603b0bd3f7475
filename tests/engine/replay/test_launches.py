import pytest

pytestmark = pytest.mark.engine


def test_a_language_interpreted_for_good_computes_the_same_device_functions_included(interpreted):
    assert interpreted["for_good"]["before"] == interpreted["for_good"]["after"] == [1.0, 5.0, 9.0, 13.0]


def test_it_is_patched_once(interpreted):
    assert interpreted["for_good"]["once"]
