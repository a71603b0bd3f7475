import pytest

from ddtree_doctor.engine.replay.origin import disown
from ddtree_doctor.engine.seams import MovedSeam

OURS = "ddtree_doctor.engine.replay.invented"
ENGINE = "sglang.srt.invented"


def raised(source, module, **names):
    """What running `source` as line 1 of `module` raises."""
    try:
        exec(compile(source, f"/{module.replace('.', '/')}.py", "exec"), {"__name__": module, **names})
    except Exception as error:
        return error
    raise AssertionError("nothing was raised")


@pytest.mark.parametrize(("source", "kind"), [("owner.width", "AttributeError"), ("owner()", "TypeError")])
def test_what_the_doctor_s_own_line_reaches_for_in_vain_is_a_moved_seam_with_its_line(source, kind):
    with pytest.raises(MovedSeam, match=rf"{kind}: .*invented\.py:1"):
        disown(raised(source, OURS, owner=object()))


@pytest.mark.parametrize("source", ["owner.width", "owner()"])
def test_the_same_in_the_engine_s_line_is_the_engine_s(source):
    def engine():
        exec(compile(source, "<engine>", "exec"), {"__name__": ENGINE, "owner": object()})

    disown(raised(source, ENGINE, owner=object()))
    disown(raised("call()", OURS, call=engine))


def test_any_other_error_is_the_engine_s_wherever_it_is_raised():
    disown(raised("1 / 0", OURS))
    disown(raised("raise ValueError('width 8')", OURS))
    disown(TypeError("never raised"))
