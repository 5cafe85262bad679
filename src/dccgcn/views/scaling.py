"""Feature columns weighted; feature rows as given, or scaled to a sum (of absolute values) or length of one."""

from typing import Any, Literal

import numpy as np
import scipy.sparse as sp
from pydantic import Field
from sklearn.preprocessing import normalize

Scaling = Literal["raw", "row", "unit"]


def scaling(default: Scaling) -> Any:
    """The option of every method that reads features."""
    return Field(
        default, description="Feature rows as given, divided by the sum of their absolute values, or of unit length."
    )


def scaled(features: Any, how: Scaling) -> Any:
    """The same kind of matrix with its rows scaled; zero rows stay zero."""
    if how == "raw":
        return features
    result = normalize(features, norm="l1" if how == "row" else "l2")
    return sp.csr_array(result) if sp.issparse(result) else np.asarray(result)


def weighted(features: Any, weights: np.ndarray | None) -> Any:
    """The same kind of matrix with each column multiplied by its weight."""
    if weights is None:
        return features
    return sp.csr_array(features @ sp.diags_array(weights)) if sp.issparse(features) else features * weights
