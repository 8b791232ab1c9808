"""The phone over ADB. Knows nothing of models or prompts and imports nothing of ours."""
