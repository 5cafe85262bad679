"""DCC-GCN as a module: two channels, their heads, the output layer, and the label distributions μ with Σ."""

from typing import Any

import torch
from torch import Tensor, nn

from dccgcn.models.dcc.channel import Channel
from dccgcn.models.dcc.influence import distance, influence, propagation_weights
from dccgcn.models.dcc.selection import Head
from dccgcn.models.dcc.settings import DccSettings
from dccgcn.operators import Operator

CHANNELS = ("topology", "features")


class DccGcn(nn.Module):
    """The parameters of DCC-GCN, and the equations that need nothing else. Channel 0 is topology, 1 features."""

    channels: Any  # a ModuleList of Channel; torch does not type what its lists hold
    parts: Any  # a ModuleList of Linear

    def __init__(self, nodes: int, features: int, classes: int, settings: DccSettings) -> None:
        super().__init__()
        s = self.settings = settings
        self.channels = nn.ModuleList(
            Channel(features, s.hidden1, s.hidden2, s.dropout, s.output_activation) for _ in CHANNELS
        )
        self.heads = nn.ModuleList(Head(s.hidden2, classes) for _ in CHANNELS)
        self.parts = nn.ModuleList(  # W of Eq. 8, a block of columns per channel
            nn.Linear(s.hidden2, classes, bias=False) for _ in (CHANNELS if s.aggregation else CHANNELS[:1])
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

    def edge_weights(self, view: Operator, channel: int) -> tuple[Tensor, Tensor]:
        """Eq. 5's distance and Eq. 6's weight on each entry of a view; both layers and Eq. 9 share them."""
        d = distance(view.pattern, self.mu(channel), self.s(channel))
        r = influence(view.pattern, d, self.settings.influence, self.settings.influence_bias)
        return d, propagation_weights(view.pattern, r, view.alpha, self.settings.propagation)

    def groups(self) -> list[dict[str, Any]]:
        """Parameters for the optimiser: weight decay on the networks, none on μ and Σ."""
        free = [*self.mu_scores, *(p for p in self.log_s if p.requires_grad)]
        network = [*self.channels.parameters(), *self.heads.parameters(), *self.parts.parameters(), self.b]
        return [{"params": network, "weight_decay": self.settings.weight_decay}, {"params": free}]
