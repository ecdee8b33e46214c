"""The one path from items to outcomes; every interface goes through it."""
