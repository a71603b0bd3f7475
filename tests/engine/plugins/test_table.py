"""The table of plugins, read without the engine."""

from __future__ import annotations

import subprocess
import sys
from importlib.util import find_spec

import pytest
from hypothesis import given
from hypothesis import strategies as st

from ddtree_doctor.engine.plugins import PLUGINS, plugin_named
from ddtree_doctor.errors import UsageError


def test_the_table_loads_neither_torch_nor_sglang():
    body = "import sys, ddtree_doctor.engine.plugins; print({'torch', 'sglang'} & set(sys.modules))"
    run = subprocess.run([sys.executable, "-c", body], capture_output=True, text=True, check=True)
    assert run.stdout.strip() == "set()"


def test_ddtree_and_its_founding_fault_add_the_same_algorithm_with_the_same_flags():
    sound, fault = PLUGINS["ddtree"], PLUGINS["ddtree-width-from-block"]
    assert sound.algorithms == fault.algorithms == ("DDTREE",)
    assert sound.options == fault.options
    assert (sound.faulty, fault.faulty) == (False, True)
    assert "--speculative-ddtree-budget" in {name for option in sound.options for name in option.options}


@pytest.mark.parametrize("name", PLUGINS)
def test_each_plugin_is_found_by_its_name_and_its_module_exists(name: str):
    plugin = plugin_named(name)
    module, _, function = plugin.register.partition(":")
    assert plugin.name == name
    assert find_spec(module)
    assert function


def test_an_unknown_plugin_lists_the_known_and_the_nearest():
    with pytest.raises(UsageError) as refused:
        plugin_named("ddtre")
    assert "'ddtree'" in str(refused.value)
    assert all(name in str(refused.value) for name in PLUGINS)


@given(st.text())
def test_any_other_name_is_one_usage_error(name: str):
    if name not in PLUGINS:
        with pytest.raises(UsageError):
            plugin_named(name)
