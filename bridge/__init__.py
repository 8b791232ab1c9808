"""The runtime: models, conversations, runs. Imports device_tools and alpine, never reversed."""
