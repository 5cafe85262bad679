"""Progress of a pass over many items."""

from dccgcn.progress import tracked


def test_a_pass_reports_a_hundred_times_and_its_end() -> None:
    seen: list[tuple[str, int, int]] = []
    assert list(tracked(range(1000), 1000, "rows", lambda *step: seen.append(step))) == list(range(1000))
    assert seen == [("rows", done, 1000) for done in range(0, 1001, 10)]
    assert list(tracked("ab", 2, "rows", None)) == ["a", "b"]
