"""Labelling by people: an event log, the state that follows from it, the server of the page, and audits."""
