"""Optional dependencies."""

from dccgcn.errors import DccgcnError


def missing_extra(package: str, extra: str, needed_by: str = "") -> DccgcnError:
    """The error to raise where an optional package is needed and not installed."""
    what = f"{needed_by} needs {package}, which is not installed." if needed_by else f"{package} is not installed."
    return DccgcnError(what, f"Install it with: pip install 'dccgcn[{extra}]'.")
