"""Report data → one self-contained HTML file."""

import base64
import hashlib
import re
from importlib import resources
from typing import Any

from jinja2 import Environment, PackageLoader, StrictUndefined
from markupsafe import Markup

from dccgcn.report.schema import Report
from dccgcn.text import printable

# characters that could end a script element or start a comment in it
_UNSAFE = {ord(char): f"\\u{ord(char):04x}" for char in "<>&\u2028\u2029"}


def render(report: Report) -> str:
    """The page. All data are escaped; only the package's own script and style are inserted as they are."""
    script, style = _static("report.js"), _static("report.css")
    policy = (
        f"default-src 'none'; script-src {_csp_hash(script)}; style-src {_csp_hash(style)}; "
        "base-uri 'none'; form-action 'none'"
    )
    table = report.channel_contingency
    warned = [finding for finding in report.findings if finding.level != "note"]
    noted = [finding for finding in report.findings if finding.level == "note"]
    return _template().render(
        data=report,
        channels=sorted(report.channels, key=lambda channel: -(channel.weight or 0)),
        has_weights=any(channel.weight is not None for channel in report.channels),
        has_accuracies=any(channel.accuracy is not None for channel in report.channels),
        findings=[(level, found) for level, found in (("warning", warned), ("note", noted)) if found],
        agreed=sum(row[i] for i, row in enumerate(table)) if table else 0,
        policy=policy,
        script=Markup(script),
        style=Markup(style),
        licences=_static("LICENCES.txt"),
        json=Markup(report.to_json().translate(_UNSAFE)),
    )


def clip(text: str, length: int) -> str:
    """A name on one line, shortened if it is long, without control characters."""
    plain = re.sub(r"\s+", " ", printable(text[: 4 * length])).strip()
    return plain if len(plain) <= length and len(text) <= 4 * length else plain[: length - 1] + "…"


def _template() -> Any:
    environment = Environment(
        loader=PackageLoader("dccgcn.report", "."),
        autoescape=True,
        undefined=StrictUndefined,
        trim_blocks=True,
    )
    environment.filters |= {
        "clip": clip,
        "number": lambda value: f"{value:,}",
        "percent": lambda value, digits=0: f"{100 * value:.{digits}f}\u00a0%",
    }
    return environment.get_template("page.html.jinja")


def _static(name: str) -> str:
    return (resources.files("dccgcn.report") / "static" / name).read_text(encoding="utf-8")


def _csp_hash(code: str) -> str:
    return f"'sha256-{base64.b64encode(hashlib.sha256(code.encode()).digest()).decode()}'"
