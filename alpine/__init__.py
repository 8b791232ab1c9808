"""Place of the terminal environments and the pinned Alpine installs. Nothing is built here yet."""
