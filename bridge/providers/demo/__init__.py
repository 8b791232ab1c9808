"""The demo: a rule-based planner behind a real Chat Completions server; not a model."""
