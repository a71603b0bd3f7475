from hypothesis import given
from hypothesis import strategies as st

from ddtree_doctor.facts.requirements import metadata_text, pins, required_names

METADATA = """Metadata-Version: 2.4
Name: sglang
Requires-Dist: torch==2.14.1
Requires-Dist: aiohttp
Requires-Dist: flashinfer_python[cu13]==0.7.2
Requires-Dist: av==16.1.0; sys_platform == "no such platform"
Requires-Dist: kernels<0.15,>=0.14.1
Requires-Dist: diffusers==0.37.0; extra == "diffusion"
Requires-Dist: nonsense === == 3
"""


def test_pins_are_the_requirements_that_hold_here_and_name_a_version():
    assert pins(METADATA) == {"torch": "==2.14.1", "flashinfer-python": "==0.7.2", "kernels": "<0.15,>=0.14.1"}


def test_names_outside_extras_are_listed_without_evaluating_markers():
    assert required_names(METADATA) == ("torch", "aiohttp", "flashinfer-python", "av", "kernels", "nonsense")


@given(st.text())
def test_any_text_is_read_without_raising(text):
    required_names(text)
    pins(f"Requires-Dist: {text}")


def test_headers_are_read_without_the_description(tmp_path):
    folder = tmp_path / "sglang-0.5.23.dist-info"
    folder.mkdir()
    (folder / "METADATA").write_text(METADATA + "\n\nRequires-Dist: not a header\n")
    assert "not a header" not in metadata_text(tmp_path, "sglang", "0.5.23")
    assert pins(metadata_text(tmp_path, "sglang", "0.5.23"))["torch"] == "==2.14.1"
    assert metadata_text(tmp_path, "sglang", "0.5.99") == ""
