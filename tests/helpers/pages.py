"""Pages made from runs, and the rows of their tables."""

from paper.pages import files_of
from paper.results import Results


def page_of(spec, rows, **about):
    files = files_of(Results(spec, rows, **about), f"python -m paper {spec.name}")
    return files[f"{spec.page or spec.name}.md"]


def table_lines(page):
    return [line for line in page.splitlines() if line.startswith("|")]
