"""One module per kernel mechanism, through ctypes alone; x86-64 and aarch64.

Each function either does all it says or raises OSError: who calls it reports the layer as on or off.
"""
