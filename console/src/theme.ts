import {
  type CSSVariablesResolver,
  createTheme,
  type MantineColorScheme,
  type MantineColorSchemeManager,
  type MantineColorsTuple,
} from "@mantine/core";

const brand: MantineColorsTuple = [
  "#eef0ff",
  "#dce1ff",
  "#b7c1ff",
  "#93a4ff",
  "#7285f2",
  "#5a6ee6",
  "#4a60db",
  "#3b4fd0",
  "#2f41b0",
  "#243390",
];
const dark: MantineColorsTuple = [
  "#e6eaf2",
  "#a2acbd",
  "#8f9bb0",
  "#66738a",
  "#2c3543",
  "#1d2430",
  "#161b24",
  "#0f131a",
  "#0b0e14",
  "#07090d",
];
const danger: MantineColorsTuple = [
  "#fff0f0",
  "#ffdcdc",
  "#ffb8ba",
  "#ff9592",
  "#f2696c",
  "#e0484d",
  "#d4373c",
  "#c62a2f",
  "#a82025",
  "#8a181d",
];

export const theme = createTheme({
  colors: { brand, dark, danger },
  primaryColor: "brand",
  primaryShade: { light: 7, dark: 3 },
  defaultRadius: 4,
  fontFamily: '"Inter Variable", system-ui, sans-serif',
  fontFamilyMonospace: '"JetBrains Mono Variable", ui-monospace, monospace',
  fontSizes: { xs: "12px", sm: "13px", md: "14px", lg: "15px", xl: "20px" },
  headings: {
    fontWeight: "600",
    sizes: { h1: { fontSize: "20px" }, h2: { fontSize: "15px" }, h3: { fontSize: "14px" } },
  },
  spacing: { xs: "8px", sm: "12px", md: "16px", lg: "24px", xl: "32px" },
  components: {
    Badge: { defaultProps: { tt: "none", variant: "default", fw: 500, radius: "sm" } },
    Button: { defaultProps: { size: "sm" } },
    Modal: { defaultProps: { closeButtonProps: { "aria-label": "Close" } } },
    Drawer: { defaultProps: { closeButtonProps: { "aria-label": "Close" }, position: "right" } },
  },
});

/** Colours that hold their contrast on our surfaces, in both schemes. */
export const cssVariables: CSSVariablesResolver = () => ({
  variables: {},
  light: {
    "--mantine-color-body": "#f6f7fa",
    "--mantine-color-text": "#1b2230",
    "--mantine-color-dimmed": "#566071",
    "--mantine-color-placeholder": "#626d7f",
    "--mantine-color-anchor": "#3b4fd0",
    "--mantine-color-default-border": "#dfe3ea",
    "--mantine-color-error": "#c62a2f",
    "--sw-surface": "#ffffff",
    "--sw-input-border": "#818b9d",
    "--sw-ok": "#18794e",
    "--sw-fail": "#c62a2f",
    "--sw-warn": "#8a5a00",
    "--sw-running": "#2459c9",
    "--sw-series-1": "#3b4fd0",
  },
  dark: {
    "--mantine-color-body": "#0f131a",
    "--mantine-color-text": "#e6eaf2",
    "--mantine-color-dimmed": "#a2acbd",
    "--mantine-color-placeholder": "#8f9bb0",
    "--mantine-color-anchor": "#93a4ff",
    "--mantine-color-default-border": "#2c3543",
    "--mantine-color-error": "#ff9592",
    "--mantine-color-brand-filled": "#4a60db",
    "--mantine-color-brand-filled-hover": "#3b4fd0",
    "--mantine-color-danger-filled": "#c62a2f",
    "--sw-surface": "#161b24",
    "--sw-input-border": "#66738a",
    "--sw-ok": "#4cc38a",
    "--sw-fail": "#ff9592",
    "--sw-warn": "#f0c14b",
    "--sw-running": "#8ab4ff",
    "--sw-series-1": "#93a4ff",
  },
});

/** Where the chosen scheme is kept; `scheme.js` reads it before the first paint. */
export const SCHEME_KEY = "scorewright-color-scheme";

/** Keeps the chosen scheme, where storage is allowed. */
export function schemeManager(): MantineColorSchemeManager {
  return {
    get: (fallback) => {
      try {
        return (localStorage.getItem(SCHEME_KEY) as MantineColorScheme | null) ?? fallback;
      } catch {
        return fallback;
      }
    },
    set: (value) => {
      try {
        localStorage.setItem(SCHEME_KEY, value);
      } catch {
        // Forbidden: it lasts as long as the page then.
      }
    },
    subscribe: () => {},
    unsubscribe: () => {},
    clear: () => {},
  };
}
