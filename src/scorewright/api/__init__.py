"""The REST API: routes per noun, wire models, errors. Everything it does is a call of `services`."""
