"""Stub."""


def notice(name, values):
    return None
