"""DCC-GCN, the systems that the paper compares to, and newer ones."""
