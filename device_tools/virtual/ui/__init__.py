"""The screen of the virtual phone: one view tree gives the hierarchy XML, the picture and touch."""
