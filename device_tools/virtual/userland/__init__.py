"""The phone's userland: its own namespaces, root file system, shell, PTYs and command client."""
