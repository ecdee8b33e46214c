import { vi } from "vitest";

// Mantine asks for the scheme of the system, which a page without a screen has not.
vi.stubGlobal("matchMedia", (query: string) => ({
  matches: false,
  media: query,
  addEventListener: () => {},
  removeEventListener: () => {},
}));
