"""The V8 jail for JavaScript and TypeScript: Deno without permissions, inside kernel layers of its own."""
