import io

from hypothesis import given
from hypothesis import strategies as st
from rich.console import Console

from ddtree_doctor.report.heatmap import print_heatmap, spans


@given(st.sets(st.integers(1, 200), max_size=12))
def test_few_spans_name_every_number(numbers):
    words = spans(sorted(numbers))
    if "…" in words:
        assert f"({len(numbers)})" in words
        return
    named = [range(int(w.split("-")[0]), int(w.split("-")[-1]) + 1) for w in words.split(", ") if w]
    assert sorted(n for span in named for n in span) == sorted(numbers)


def test_the_map_has_a_row_a_budget_and_a_column_a_rank():
    cells = [
        {"budget": budget, "attn_tp": tp, "width": budget + 1, "lost_bs": [1, 2] if tp == 8 else []}
        for budget in (31, 32)
        for tp in (1, 8)
    ]
    out = io.StringIO()
    print_heatmap(cells, Console(file=out, width=100), max_bs=48)
    assert "attn-TP 8" in out.getvalue()
    assert out.getvalue().count("1-2") == 2
