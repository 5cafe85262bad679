"""Pages made from runs, and the rows of their tables."""

from dccgcn.experiments.pages import files_of
from dccgcn.experiments.results import Results


def page_of(spec, rows, **about):
    files = files_of(Results(spec, rows, **about), f"dccgcn reproduce {spec.name}")
    return files[f"{spec.page or spec.name}.md"]


def table_lines(page):
    return [line for line in page.splitlines() if line.startswith("|")]
