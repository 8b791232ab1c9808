"""Plain types, the ground of bridge: messages, provider events, carrier frames, run events."""
