"""DCC-GCN, the paper, a file per section: settings, influence, channel, selection, calibration, objective, model."""
