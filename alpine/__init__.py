"""Terminals on the phone: supervised shells of its own userland, their tools, its files."""
