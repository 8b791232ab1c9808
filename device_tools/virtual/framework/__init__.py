"""The commands of the virtual phone's system server, answered from its state."""
