"""Confidence compared with accuracy on the test nodes."""

import numpy as np

from dccgcn.quality.trust import bars, risk_coverage
from dccgcn.report.schema import Calibration, CalibrationBin
from dccgcn.report.trust_summary import TrustedNodes
from dccgcn.workflow.result import Result

BINS = 10
POINTS = 200  # of the risk-coverage curve


def calibration(result: Result, nodes: TrustedNodes) -> Calibration | None:
    """Reliability diagram and risk-coverage curve; None without test nodes."""
    test = result.split.test
    if len(test) == 0:
        return None
    confidence = nodes.confidence[test].astype(np.float64)
    is_right = result.prediction.y_pred[test] == result.graph.labels[test]
    bins = bars(confidence, is_right, BINS)
    curve = risk_coverage(confidence, is_right)
    points = np.unique(np.linspace(0, len(test) - 1, POINTS).astype(int))
    return Calibration(
        nodes=len(test),
        accuracy=round(float(is_right.mean()), 6),
        mean_confidence=round(float(confidence.mean()), 6),
        ece=round(sum(b.count * abs(b.accuracy - b.confidence) for b in bins) / len(test), 6),
        bins=[
            CalibrationBin(count=b.count, confidence=round(b.confidence, 4), accuracy=round(b.accuracy, 4))
            for b in bins
        ],
        coverage=np.round(curve.coverage[points], 4).tolist(),
        risk=np.round(curve.risk[points], 4).tolist(),
        aurc=round(curve.area, 6),
    )
