from dataclasses import replace

from ddtree_doctor.launch.model import Flag
from ddtree_doctor.report.launches import launch_object, resolved_object
from tests.report.sample import case, settings


def test_what_was_probably_meant_shows_only_where_it_differs():
    one = case()
    launch = one.facts.launch
    tp = Flag(option="--tp", name="tp_size", values=("8",))
    meant = replace(launch, command="meant", flags=(tp, launch.flags[1]))
    made = launch_object(replace(launch, intended=meant), one.facts.engine)
    assert made["as_intended"] == {"command": "meant", "tp": 8}


def test_nothing_given_is_null():
    one = case()
    made = launch_object(one.facts.launch, one.facts.engine)
    assert made["budget"] is None
    assert made["algorithm"] is None
    assert made["as_intended"] == {}


def test_each_setting_says_where_it_comes_from():
    made = resolved_object(settings())
    assert made["algorithm"] == {"value": "DDTREE", "origin": "given", "why": ""}
    assert made["budget"]["origin"] == "unknown"
