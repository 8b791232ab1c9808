"""Tools on plain adb: the phone's state, its data, its settings, its packages, files to and fro."""
