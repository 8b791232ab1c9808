"""The runtime: models, conversations and runs. Imports device_tools and alpine, never the reverse."""
