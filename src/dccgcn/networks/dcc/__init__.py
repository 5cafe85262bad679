"""DCC-GCN, the paper, a file per section: settings, influence, selection, calibration, objective, model."""
