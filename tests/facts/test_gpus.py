import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from ddtree_doctor.errors import UsageError
from ddtree_doctor.facts.gpus import CAPABILITIES, PRODUCTS, parse_gpus, product_named


@pytest.mark.parametrize(
    ("text", "count", "name", "capability"),
    [
        ("sm_120x8", 8, "sm_120", (12, 0)),
        ("SM120", 1, "sm_120", (12, 0)),
        ("sm_103", 1, "sm_103", (10, 3)),
        ("B300x8", 8, "B300", (10, 3)),
        ("b300 x 8", 8, "B300", (10, 3)),
        ("H200", 1, "H200", (9, 0)),
        ("2xH100", 2, "H100", (9, 0)),
        ("2 x NVIDIA H100 80GB HBM3", 2, "H100", (9, 0)),
        ("RTX PRO 6000x8", 8, "RTX PRO 6000", (12, 0)),
        ("8xNVIDIA RTX PRO 6000 Blackwell Server Edition", 8, "RTX PRO 6000", (12, 0)),
        ("A100-SXM4-40GBx4", 4, "A100 40GB", (8, 0)),
        ("DGX Spark", 1, "GB10", (12, 1)),
    ],
)
def test_a_gpu_is_named_as_people_write_it(text, count, name, capability):
    gpus = parse_gpus(text)
    assert len(gpus) == count
    assert {(gpu.name, gpu.capability) for gpu in gpus} == {(name, capability)}


def test_memory_is_known_of_a_product_and_not_of_a_bare_architecture():
    assert parse_gpus("H200")[0].memory_mib == 141 * 1024
    assert parse_gpus("sm_90")[0].memory_mib is None


@pytest.mark.parametrize(
    "text", ["", "x8", "sm_47", "H101", "MI300X", "H100x0", "0xH100", "H100x5000", "8", "sm_", "x"]
)
def test_an_unknown_gpu_or_count_is_refused_in_one_line_that_tells_what_is_allowed(text):
    with pytest.raises(UsageError) as refused:
        parse_gpus(text)
    message = str(refused.value)
    assert message.startswith("--gpu ")
    assert "\n" not in message
    assert "sm_120" in message or "allowed are 1 to" in message


@given(st.text(max_size=60))
@example("9" * 5000 + "xH100")
@example("H100x²")
@example("sm_١٢٠")
def test_any_text_gives_gpus_or_a_usage_error(text):
    message = ""
    try:
        assert parse_gpus(text)
    except UsageError as refused:
        message = str(refused)
    assert "\n" not in message


@given(st.sampled_from(PRODUCTS), st.integers(1, 64))
def test_every_product_is_found_by_each_of_its_names_with_a_count(product, count):
    for name in (product.name, *product.also):
        for text in (f"{name}x{count}", f"{count}x{name}", f"NVIDIA {name} x {count}"):
            assert [gpu.name for gpu in parse_gpus(text)] == [product.name] * count


def test_no_two_products_share_a_spelling_and_every_capability_is_listed():
    spellings = [name.lower() for product in PRODUCTS for name in (product.name, *product.also)]
    assert len(spellings) == len(set(spellings))
    assert {product.capability for product in PRODUCTS} <= set(CAPABILITIES)
    assert product_named("no such GPU") is None
