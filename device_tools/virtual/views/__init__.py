"""The view toolkit of the virtual phone: tree, widgets, theme, fonts and the picture."""
