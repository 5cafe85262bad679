"""The two views of a graph: its topology, and the kNN graph of its features; and their neighbourhoods."""

from dccgcn.views.approximate import neighbours
from dccgcn.views.field import FieldInput, Layer, receptive_field
from dccgcn.views.hops import hop_blocks, hops
from dccgcn.views.knn import Neighbours, nearest
from dccgcn.views.scaling import Scaling, scaled, scaling, weighted
from dccgcn.views.view import Normalisation, View, feature_view, topology_view

__all__ = [
    "FieldInput",
    "Layer",
    "Neighbours",
    "Normalisation",
    "Scaling",
    "View",
    "feature_view",
    "hop_blocks",
    "hops",
    "nearest",
    "neighbours",
    "receptive_field",
    "scaled",
    "scaling",
    "topology_view",
    "weighted",
]
