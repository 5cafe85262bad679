"""What the true classes say about the confidence stated, where they are known."""

from typing import Any

import numpy as np

from dccgcn.artifacts.report.trusted import Trusted
from dccgcn.evaluation.trust import bars, risk_coverage
from dccgcn.workflow.run import Run

BINS = 10
POINTS = 200  # of the risk-coverage curve


def measured(result: Run, trust: Trusted) -> dict[str, Any] | None:
    """Reliability diagram and risk-coverage curve on the test nodes; None without any."""
    test = result.split.test
    if len(test) == 0:
        return None
    score = trust.score[test].astype(np.float64)
    right = result.prediction.y_pred[test] == result.graph.labels[test]
    diagram = bars(score, right, BINS)
    curve = risk_coverage(score, right)
    at = np.unique(np.linspace(0, len(test) - 1, POINTS).astype(int))
    return {
        "nodes": len(test),
        "accuracy": round(float(right.mean()), 6),
        "stated": round(float(score.mean()), 6),
        "error": round(sum(b.count * abs(b.accuracy - b.confidence) for b in diagram) / len(test), 6),
        "bars": [[b.count, round(b.confidence, 4), round(b.accuracy, 4)] for b in diagram],
        "coverage": np.round(curve.coverage[at], 4).tolist(),
        "risk": np.round(curve.risk[at], 4).tolist(),
        "area": round(curve.area, 6),
    }
