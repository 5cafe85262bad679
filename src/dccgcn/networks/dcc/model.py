"""DCC-GCN as a module: two channels, their classifiers, the output layer, and the label distributions μ with Σ."""

from typing import Any

import torch
from torch import Tensor, nn

from dccgcn.networks.dcc.equations import ChannelClassifier, distance, influence, padded_logits, propagation_weights
from dccgcn.networks.dcc.settings import DccSettings
from dccgcn.networks.layers import TorchOperator, TwoLayerGcn

CHANNELS = ("topology", "features")


class DccGcn(nn.Module):
    """The parameters of DCC-GCN and the equations that need nothing else.

    Shi et al., Select and Calibrate the Low-confidence, Applied Intelligence 2023. Channel 0 is topology, 1 features.

    Shapes: embeddings (nodes, hidden2) per channel, logits (nodes, classes), μ and Σ⁻¹ (nodes, classes).
    """

    channels: Any  # a ModuleList of TwoLayerGcn; torch does not type what its lists hold
    output_weights: Any  # a ModuleList of Linear

    def __init__(self, nodes: int, features: int, classes: int, settings: DccSettings) -> None:
        super().__init__()
        s = self.settings = settings
        self.channels = nn.ModuleList(
            TwoLayerGcn(features, s.hidden1, s.hidden2, s.dropout, s.output_activation) for _ in CHANNELS
        )
        padded = s.channel_classifier == "padded"
        self.classifiers = nn.ModuleList(() if padded else (ChannelClassifier(s.hidden2, classes) for _ in CHANNELS))
        self.output_weights = nn.ModuleList(  # W of Eq. 8, a block of columns per channel
            nn.Linear(s.hidden2, classes, bias=False) for _ in (CHANNELS if s.aggregation or padded else CHANNELS[:1])
        )
        self.b = nn.Parameter(torch.zeros(classes))
        sets = 1 if s.share_mu else len(CHANNELS)
        self.mu_scores = nn.ParameterList(nn.init.xavier_uniform_(torch.empty(nodes, classes)) for _ in range(sets))
        self.log_s = nn.ParameterList(  # Σ starts as the identity; its inverse stays positive as an exponential
            nn.Parameter(torch.zeros(nodes, classes), requires_grad=s.learn_sigma) for _ in range(sets)
        )

    def mu(self, channel: int) -> Tensor:
        """Label distributions μ, (n, c)."""
        scores = self.mu_scores[channel if len(self.mu_scores) > 1 else 0]
        return scores.softmax(1) if self.settings.mu == "softmax" else scores

    def s(self, channel: int) -> Tensor:
        """Diagonals of Σ⁻¹, (n, c)."""
        return self.log_s[channel if len(self.log_s) > 1 else 0].exp()

    def edge_weights(self, operator: TorchOperator, channel: int) -> tuple[Tensor, Tensor]:
        """The distance of Eq. 5, which Eq. 9 also uses, and the weight of Eq. 6 on each entry, (entries,) each."""
        d = distance(operator.pattern, self.mu(channel), self.s(channel))
        r = influence(operator.pattern, d, self.settings.influence, self.settings.influence_bias)
        return d, propagation_weights(operator.pattern, r, operator.alpha, self.settings.propagation)

    def summands(self, embeddings: list[Tensor]) -> list[Tensor]:
        """Each channel's summand of W·Z in Eq. 8, its block of W times its embeddings, (nodes, c) each."""
        return [w(h) for w, h in zip(self.output_weights, embeddings, strict=False)]

    def joint_logits(self, summands: list[Tensor]) -> Tensor:
        """W·Z + b of Eq. 8 from its summands; without aggregation, from the first, (nodes, c)."""
        return torch.stack(summands if self.settings.aggregation else summands[:1]).sum(0) + self.b

    def channel_logits(self, embeddings: list[Tensor], summands: list[Tensor]) -> list[Tensor]:
        """Section 3.3: the classification of each channel alone, (nodes, c) each."""
        if self.settings.channel_classifier == "padded":
            return [padded_logits(summand, self.b) for summand in summands]
        return [classifier(h) for classifier, h in zip(self.classifiers, embeddings, strict=True)]

    def groups(self) -> list[dict[str, Any]]:
        """Parameters for the optimiser: weight decay on the networks, none on μ and Σ."""
        undecayed = [*self.mu_scores, *(p for p in self.log_s if p.requires_grad)]
        modules = self.channels, self.classifiers, self.output_weights
        network = [*(p for module in modules for p in module.parameters()), self.b]
        return [{"params": network, "weight_decay": self.settings.weight_decay}, {"params": undecayed}]
