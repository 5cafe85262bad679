"""Everything that can be fitted: Concord, DCC-GCN and the systems they are compared with."""
