"""The former name of trust_summary, for callers that still use it."""

from dccgcn.artifacts.report.trust_summary import THRESHOLD as THRESHOLD
