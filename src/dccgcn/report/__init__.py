"""Result → report data (plain JSON, docs/report-data.md) → one HTML file."""

from dccgcn.report.data import load_data, report_data, save_data
from dccgcn.report.page import render

__all__ = ["load_data", "render", "report_data", "save_data"]
