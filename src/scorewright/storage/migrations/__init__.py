"""The steps by which tables came to be as they are; `storage.schema` takes them."""
