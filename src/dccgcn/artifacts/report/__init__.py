"""Result → report data (plain JSON, docs/report-data.md) → one HTML file."""
