"""Optional dependencies."""

from dccgcn.errors import DccgcnError


def missing_extra(package: str, extra: str) -> DccgcnError:
    """The error to raise where an optional package is needed and not installed."""
    return DccgcnError(f"{package} is not installed.", f"Install it with: pip install 'dccgcn[{extra}]'.")
