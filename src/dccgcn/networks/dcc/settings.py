"""DCC-GCN's settings: those of Table 8, the choices that the paper leaves open, and its ablations."""

from typing import Literal

from pydantic import Field

from dccgcn.features import Normalisation, Scaling, scaling
from dccgcn.settings import Settings, count, rate, share, weight


class DccSettings(Settings):
    """Defaults are Table 8's row for Cora; an open choice has the value that its description finds a licence for."""

    # Table 8 and Appendix D
    lr: float = rate(5e-3, "Learning rate of Adam (Table 8).")
    weight_decay: float = weight(1e-5, "L2 penalty on weights and biases, not on mu and Sigma (Table 8).")
    hidden1: int = count(256, "Width of the first layer of each channel (Table 8).")
    hidden2: int = count(128, "Width of the second layer of each channel (Table 8).")
    dropout: float = share(0.5, "Share of features and hidden units dropped in training (Table 8).")
    k: int = count(6, "Neighbours of each node in the feature graph (Table 8).")
    lambda1: float = weight(0.25, "Weight of the smoothness of mu, Eq. 9 (Table 8).")
    lambda2: float = weight(0.5, "Weight of the label loss on mu, Eq. 10 (Table 8).")
    epochs: int = count(200, "Training epochs (Appendix D).")
    m: int = count(2, "Hops within which high-confidence neighbours calibrate a node, Eq. 7.")

    # What the paper leaves open
    features: Scaling = scaling("raw")  # by dataset in published/dcc-gcn.yaml
    normalisation: Normalisation = Field("row", description="How alpha of Eq. 6 normalises A + I.")
    influence: Literal["softmax", "inverse"] = Field(
        "inverse", description="r of Eq. 5-6: 1/(d + bias), or its softmax over the neighbours as in ConfGCN."
    )
    influence_bias: float = rate(
        1.0, "Added to d in 1/d of Eq. 6, infinite on every self-loop since v is in N_v; ConfGCN's bias."
    )
    propagation: Literal["product", "normalised", "influence"] = Field(
        "normalised",
        description="Weights of Eq. 6: r times alpha as printed, the same with rows summing to one, or r alone.",
    )
    mu: Literal["softmax", "free"] = Field(
        "softmax", description="Label distributions as a softmax of scores, or as unconstrained scores."
    )
    share_mu: bool = Field(True, description="One mu and Sigma for both channels, or one each.")
    learn_sigma: bool = Field(True, description="Learn Sigma (diagonal, as its inverse), or keep the identity.")
    smooth_over: Literal["topology", "both"] = Field("topology", description="Graphs whose edges Eq. 9 runs over.")
    cross_entropy_reduction: Literal["mean", "sum"] = Field(
        "mean",
        description="Eq. 11 for each classifier as a mean over the labels ('the standard cross-entropy loss', Section "
        "3.5; GCN, AM-GCN and ConfGCN take the mean), or as the sum printed.",
    )
    penalty_reduction: Literal["mean", "sum"] = Field(
        "sum", description="Eq. 9 and 10 as sums over edges and labels, as printed and in ConfGCN, or as means."
    )
    phi: float = rate(1.0, "phi of Eq. 10.")
    channel_classifier: Literal["padded", "mlp"] = Field(
        "padded",
        description="'Expand its output feature matrix to two times its dimensionality' (Section 3.3): padded with "
        "zeros to the input of Eq. 8 and classified by its layer, or an MLP with a hidden layer of twice the width.",
    )
    head_weight: float = weight(1.0, "Weight of the cross-entropy of the two channels' own classifications.")
    output_activation: bool = Field(
        False,
        description="'A 2-layer GCN with ReLU as the activation function' (Appendix D): between the layers, as in GCN "
        "and AM-GCN, since Eq. 8 follows; or after the second one too, as printed in Eq. 6.",
    )
    calibrate_from: float = weight(
        1.0, "Share of the epochs after which training calibrates; 1: only prediction does.", most=1
    )
    calibration_bias: float = rate(
        1e-9,
        "Added to d in 1/d of Eq. 7 against exact zeros: 'we define r = 1/d' (Section 3.2), and Eq. 7 never sums over "
        "u itself, so that it needs no stabiliser.",
    )
    calibration_rounds: int = Field(
        1,
        ge=1,
        le=10,
        description="Passes of Eq. 7 in prediction, 1 as printed. In each further one, calibrated nodes on which the "
        "channels now agree join the high-confidence ones, until none does.",
    )
    calibration_sum: Literal["normalised", "plain"] = Field(
        "normalised", description="Eq. 7 as a weighted mean of the neighbours, or as the plain sum printed."
    )

    # Table 7
    calibration: bool = Field(True, description="False: the ablation without calibration.")
    aggregation: bool = Field(True, description="False: the ablation without the second channel's embedding.")

    @property
    def neighbours(self) -> int:
        return self.k
