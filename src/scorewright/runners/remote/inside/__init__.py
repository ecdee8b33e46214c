"""What is uploaded to a remote sandbox and runs there: standard library only.

It runs beside copies of modules of this package (`remote/archive.py`). Those of them that need msgspec or an extension
module on this machine are stood in for by `result_stand_in` and `protocol_stand_in`.
"""
