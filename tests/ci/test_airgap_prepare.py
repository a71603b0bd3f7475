from hypothesis import given
from hypothesis import strategies as st
from packaging.version import Version

from tests.ci.wheels import script

prepare = script("prepare")
NAMES = ("torch", "numpy", "orjson", "sglang")
versions = st.sampled_from(["1.0", "2.0", "2.5.2", "2.11.0+cu130"])


def target(present):
    return prepare.Target(python="3.12", present={name: Version(version) for name, version in present.items()})


RESOLVED = [
    {"name": "sglang", "version": "0.5.17", "requires_dist": ["torch==2.11.0", "numpy<2.5", "orjson"]},
    {"name": "torch", "version": "2.11.0"},
    {"name": "numpy", "version": "2.3.5"},
    {"name": "orjson", "version": "3.13.0", "requires_dist": ["numpy>9; python_version < '3'"]},
]


def test_a_pinned_package_of_the_host_stays_whatever_its_local_part():
    carried, stays = prepare.subtract(RESOLVED, target({"torch": "2.11.0+cu130"}), set())
    assert stays == {"torch": "2.11.0+cu130"}
    assert carried == ["sglang==0.5.17", "numpy==2.3.5", "orjson==3.13.0"]


def test_a_version_that_some_carried_package_refuses_is_carried():
    carried, _ = prepare.subtract(RESOLVED, target({"numpy": "2.5.2"}), set())
    assert "numpy==2.3.5" in carried


@given(st.dictionaries(st.sampled_from(NAMES), versions), st.sets(st.sampled_from(NAMES)))
def test_every_package_is_carried_stays_or_was_left_out_by_name(present, left_out):
    carried, stays = prepare.subtract(RESOLVED, target(present), left_out)
    names = [line.split("==")[0] for line in carried]
    assert not set(names) & set(stays)
    assert set(names) | set(stays) | left_out >= set(NAMES)


def test_a_freeze_is_read_past_what_pins_no_version(tmp_path):
    freeze = tmp_path / "host.txt"
    freeze.write_text("Torch_X==1.0\n-e git+x\n# note==1\nlocal @ file:///x\n")
    assert prepare.frozen(str(freeze)) == {"torch-x": Version("1.0")}


def test_what_the_doctor_itself_needs_is_carried_too():
    own = prepare.own_requirements(prepare.ROOT / "pyproject.toml")
    assert any(one.startswith("dacite") for one in own)
    resolved = [*RESOLVED, {"name": "dacite", "version": "1.9.2"}]
    assert "dacite==1.9.2" in prepare.subtract(resolved, target({"dacite": "1.0"}), set(), ["dacite>=1.8"])[0]
