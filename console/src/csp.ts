import { setNonce } from "get-nonce";

/** The nonce of this page, which the server made: what puts styles into the page has to show it. */
export const nonce =
  document.querySelector<HTMLMetaElement>('meta[name="csp-nonce"]')?.content ?? "";

setNonce(nonce);
