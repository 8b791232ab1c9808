"""The apps of the virtual phone: each is a pure function from the state to a view tree."""
