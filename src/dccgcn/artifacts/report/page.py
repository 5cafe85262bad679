"""Report data → one HTML file that needs nothing else: no network, no folder beside it."""

import base64
import hashlib
import json
import re
from importlib import resources
from typing import Any

from jinja2 import Environment, PackageLoader, StrictUndefined
from markupsafe import Markup

from dccgcn.text import printable

# what would end a script element, or start a comment in it
_UNSAFE = {ord(sign): f"\\u{ord(sign):04x}" for sign in "<>&\u2028\u2029"}


def render(data: dict[str, Any]) -> str:
    """The page. Everything from the data is escaped; only the package's own script and style are put in as they are."""
    script, style = _own("report.js"), _own("report.css")
    policy = (
        f"default-src 'none'; script-src {_hashed(script)}; style-src {_hashed(style)}; "
        "base-uri 'none'; form-action 'none'"
    )
    table = data["disagreement"]
    return _template().render(
        data=data,
        agreed=sum(row[i] for i, row in enumerate(table)) if table else 0,
        policy=policy,
        script=Markup(script),
        style=Markup(style),
        licences=_own("LICENCES.txt"),
        json=Markup(json.dumps(data, allow_nan=False, separators=(",", ":")).translate(_UNSAFE)),
    )


def clip(text: str, most: int) -> str:
    """A name on one line, cut if it is long, invisible signs left out."""
    plain = re.sub(r"\s+", " ", printable(str(text)[: 4 * most])).strip()
    return plain if len(plain) <= most and len(str(text)) <= 4 * most else plain[: most - 1] + "…"


def _template() -> Any:
    environment = Environment(
        loader=PackageLoader("dccgcn.artifacts.report", "."),
        autoescape=True,
        undefined=StrictUndefined,
        trim_blocks=True,
    )
    environment.filters |= {
        "clip": clip,
        "plain": lambda value: value if isinstance(value, str) else json.dumps(value),
        "number": lambda value: f"{value:,}",
        "percent": lambda value, digits=0: f"{100 * value:.{digits}f}\u00a0%",
    }
    return environment.get_template("page.html.jinja")


def _own(name: str) -> str:
    return (resources.files("dccgcn.artifacts.report") / "static" / name).read_text(encoding="utf-8")


def _hashed(code: str) -> str:
    return f"'sha256-{base64.b64encode(hashlib.sha256(code.encode()).digest()).decode()}'"
