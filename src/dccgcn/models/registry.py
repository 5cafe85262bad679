"""All methods by name. A new one needs a file that defines it and a line here."""

from dccgcn.errors import DccgcnError
from dccgcn.models.base import Method as Method
from dccgcn.models.baselines import (
    agnn,
    am_gcn,
    appnp,
    cagcn,
    cagcn_st,
    confgcn,
    d2pt,
    dagnn,
    dgcn,
    e_gcn,
    gat,
    gcn,
    glp,
    grand,
    graphany,
    iceberg,
    knn_gcn,
    krylov,
    li2018,
    logreg,
    lp,
    m3s,
    mlp,
    poisson,
    pseudo_labels,
    sgc,
    ssgc,
)
from dccgcn.models.concord import method as concord
from dccgcn.models.dcc import method as dcc
from dccgcn.text import did_you_mean

_ALL = (
    concord.METHOD,
    dcc.METHOD,
    gcn.METHOD,
    lp.METHOD,
    lp.ABSORPTION,
    lp.SERIES,
    sgc.METHOD,
    ssgc.METHOD,
    glp.METHOD,
    poisson.METHOD,
    mlp.METHOD,
    logreg.METHOD,
    logreg.HOPS,
    graphany.METHOD,
    knn_gcn.METHOD,
    gat.METHOD,
    agnn.METHOD,
    appnp.METHOD,
    dagnn.METHOD,
    krylov.METHOD,
    grand.METHOD,
    dgcn.METHOD,
    confgcn.METHOD,
    am_gcn.METHOD,
    d2pt.METHOD,
    iceberg.METHOD,
    pseudo_labels.METHOD,
    li2018.SELF_TRAINING,
    li2018.CO_TRAINING,
    li2018.UNION,
    li2018.INTERSECTION,
    m3s.METHOD,
    cagcn.METHOD,
    cagcn_st.METHOD,
    e_gcn.METHOD,
)
METHODS = {method.name: method for method in _ALL}


def get_method(name: str) -> Method:
    """The method of that name, or an error that lists them."""
    if name in METHODS:
        return METHODS[name]
    hint = did_you_mean(name.lower(), METHODS)
    raise DccgcnError(f"There is no method {name!r}.{hint}", f"Choose one of: {', '.join(METHODS)}.")
