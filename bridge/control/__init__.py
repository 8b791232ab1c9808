"""A run that goes on, seen from outside: its end, its control socket, its terminal."""
