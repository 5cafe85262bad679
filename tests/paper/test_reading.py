"""Interpretations of pages: their numbers and comparisons follow from the runs."""

from dataclasses import replace

from helpers.paper_rows import row_of
from paper.reading import reading
from paper.results import Results
from paper.smoke import tiny
from paper.spec import OTHERS, PAPER, read_spec


def test_the_numbers_of_an_interpretation_are_those_of_the_runs():
    spec = replace(
        read_spec("table3"),
        runs=5,
        reading='GCN {{ difference("GCN") }}, spread {{ spread("cora, 0.5 %") }}, LP {{ difference("LP") }}.',
    )
    rows = {}
    for nth in range(5):
        rows |= row_of(spec, "GCN", 0, nth, accuracy=0.53 + 0.01 * nth)  # mean 55, the paper has 54.2
        rows |= row_of(spec, "GCN", 1, nth, accuracy=0.6)  # the paper has 61
    assert reading(Results(spec, rows)) == "GCN -1.0 to +0.8, spread 1.6, LP not measured."
    text = (
        '{{ under_confident("GCN") }} columns, {{ overconfidence("GCN") }} points, '
        '{{ overconfidence("GCN", "citeseer") }}'
    )
    spec = replace(read_spec("confidence"), runs=1, reading=text)
    rows = {}
    for c, gap in ((0, -0.125), (2, 0.25)):
        rows |= row_of(spec, "GCN", c, 0, final_gap=gap)
    assert reading(Results(spec, rows)) == "1 of 2 columns, -12.5 to +25.0 points, +25.0"


def test_comparisons_of_an_interpretation_are_counted_from_the_runs():
    text = """{{ less("GCN", "LP") }}; {{ less("GCN", "GAT") }}; {{ less("GCN", "LP", "citeseer") }}; \
{{ above_paper("ssgc") }}; {{ mean("GCN") }}; {{ change("GCN", "accuracy_low_before", "accuracy") }}"""
    spec = replace(read_spec("table3"), runs=3, reading=text)
    rows = {}
    for nth, gain in enumerate((0.02, 0.021, 0.022)):
        for c, lead in enumerate((gain, -0.1 * gain * nth)):
            before = {"accuracy_low_before": 0.5 - gain} if c == 0 else {}
            rows |= row_of(spec, "LP", c, nth, accuracy=0.5) | row_of(spec, "ssgc", c, nth, accuracy=0.51)
            rows |= row_of(spec, "GCN", c, nth, accuracy=0.5 + lead, **before)
    assert reading(Results(spec, rows)).split("; ") == [
        "-0.2 to +2.1 points (significantly above zero in 1 and below in 0 of 2 columns)",
        "not measured",
        "not measured",
        "1 of 2 columns",
        "49.8 to 52.1",
        "+4.2 points (significantly above zero in 1 and below in 0 of 1 columns)",
    ]


def test_an_interpretation_names_the_columns_in_which_a_signal_is_better_than_the_margin():
    spec = replace(read_spec("confidence"), runs=3, reading='{{ to_margin("GCN", "final", "agreement") }}')
    rows = {}
    for c, auroc in ((0, 0.9), (1, 0.5), (2, None)):
        for nth in range(3):
            values = {"final_auroc_margin": 0.7 + 0.001 * nth, "final_auroc_agreement": auroc}
            values |= {"final_aurc_margin": 0.1, "final_aurc_agreement": 0.1}
            rows |= row_of(spec, "GCN", c, nth, **values)
    assert (
        reading(Results(spec, rows)) == "higher in 1 of 2 columns (cora, 0.5 %) and lower in 1 of 2 columns (cora, 2 %)"
    )
    assert reading(Results(spec, {})) == "not measured"


def test_every_interpretation_can_be_filled_with_and_without_runs():
    for name in (*PAPER, *OTHERS):
        spec = read_spec(name)
        for some in (spec, tiny(spec)):
            assert "{{" not in reading(Results(some, {}))
