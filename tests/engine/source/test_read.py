import subprocess
import sys

import pytest

from ddtree_doctor.engine.plugins import PLUGINS
from ddtree_doctor.engine.source import read_engine
from ddtree_doctor.errors import UsageError
from tests.engine.source.trees import NEWEST, OLDEST, plant


def test_an_engine_is_read_whole(tmp_path):
    plant(tmp_path, NEWEST)
    engine = read_engine(tmp_path)
    assert engine.version == "0.5.23"
    assert engine.layout == "captured-req-width"
    assert engine.algorithms == ("DFLASH", "EAGLE", "NGRAM", "NONE")
    assert engine.option("tp_size").options == ("--tensor-parallel-size", "--tp-size")
    assert engine.traits["draft_extend"] == "draft_tokens"
    assert engine.fork
    assert engine.unknown == ""


def test_a_second_reading_gives_the_same_facts_from_the_cache(tmp_path):
    plant(tmp_path, NEWEST)
    assert read_engine(tmp_path) == read_engine(tmp_path)


def test_the_digest_is_of_the_content_and_not_of_the_place(tmp_path):
    for name in ("a", "b"):
        plant(tmp_path / name, NEWEST)
    assert read_engine(tmp_path / "a").digest == read_engine(tmp_path / "b").digest
    (tmp_path / "b/sglang/srt/choices.py").write_text("LOAD_FORMATS = []\n")
    assert read_engine(tmp_path / "a").digest != read_engine(tmp_path / "b").digest


def test_a_plugin_adds_its_algorithm_and_options_and_does_not_stay_in_the_cache(tmp_path):
    plant(tmp_path, NEWEST)
    engine = read_engine(tmp_path, plugins=("ddtree",))
    assert engine.plugins == ("DDTREE",)
    assert "DDTREE" not in engine.algorithms
    assert engine.option("speculative_ddtree_budget").type == "int"
    without = read_engine(tmp_path)
    assert without.plugins == ()
    assert without.option("speculative_ddtree_budget") is None
    assert without.digest == engine.digest


def test_an_unknown_plugin_is_a_usage_error_that_lists_the_known(tmp_path):
    plant(tmp_path, NEWEST)
    with pytest.raises(UsageError) as refused:
        read_engine(tmp_path, plugins=("ddtre",))
    assert all(name in str(refused.value) for name in PLUGINS)


def test_no_engine_is_a_normal_state(monkeypatch):
    monkeypatch.setitem(sys.modules, "sglang", None)
    engine = read_engine()
    assert engine.version is None
    assert engine.unknown == "sglang is not installed in this environment"
    assert read_engine(plugins=("ddtree",)).plugins == ("DDTREE",)


def test_a_folder_without_an_engine_is_a_usage_error(tmp_path):
    with pytest.raises(UsageError):
        read_engine(tmp_path)


@pytest.mark.parametrize("broken", ["srt/server_args.py", "srt/speculative/spec_info.py"])
def test_a_broken_source_is_named_and_what_can_be_read_is_kept(tmp_path, broken):
    plant(tmp_path, {**NEWEST, broken: "def broken(:\n"})
    engine = read_engine(tmp_path)
    assert engine.unknown == f"its source cannot be parsed: {broken}, line 1: invalid syntax"
    assert engine.version == "0.5.23"
    assert bool(engine.options) == (broken != "srt/server_args.py")


def test_an_engine_older_than_any_known_layout_has_none(tmp_path):
    plant(tmp_path, {"srt/server_args.py": OLDEST["srt/server_args.py"], "version.py": '__version__ = "0.3.0"\n'})
    engine = read_engine(tmp_path)
    assert (engine.version, engine.layout, engine.algorithms, engine.unknown) == ("0.3.0", "", (), "")
    assert engine.options


def test_an_empty_package_is_read_without_raising(tmp_path):
    (tmp_path / "sglang/srt").mkdir(parents=True)
    engine = read_engine(tmp_path)
    assert engine.layout == ""
    assert engine.options == ()
    assert {seam.state for seam in engine.seams} == {"absent"}


TIMED = """
import sys, time
from ddtree_doctor.engine.source import read_engine
start = time.process_time()
engine = read_engine()
print(time.process_time() - start)
assert engine.layout and engine.options and not engine.unknown
assert not {"torch", "sglang", "rich"} & set(sys.modules)
"""


@pytest.mark.engine
def test_the_installed_engine_is_read_in_a_second_and_then_in_a_blink_without_importing_it():
    runs = [subprocess.run([sys.executable, "-c", TIMED], check=True, capture_output=True) for _ in range(3)]
    cold, *warm = (float(run.stdout) for run in runs)
    assert cold < 1.0
    assert min(warm) < 0.05
