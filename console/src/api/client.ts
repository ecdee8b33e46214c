import createClient from "openapi-fetch";
import type { components, paths } from "./schema";

export type Schema = components["schemas"];
export type Problem = Schema["Problem"];

/** What the server, or the way to it, refused. */
export class ApiError extends Error {
  constructor(
    readonly status: number,
    readonly problem: Problem | undefined,
    readonly requestId: string | undefined,
  ) {
    super(problem?.detail ?? `The server answered ${status} without saying why.`);
  }
}

/** Nobody answered: the server or the network is away. */
export class OfflineError extends Error {
  constructor() {
    super("The server does not answer.");
  }
}

/** Hears of every answer: who is not logged in, and whether there is a connection. */
type Listener = (event: "answered" | "unauthorized" | "offline") => void;
const listeners = new Set<Listener>();

/** Call back on what every answer shows; returns what ends that. */
export function listen(listener: Listener): () => void {
  listeners.add(listener);
  return () => listeners.delete(listener);
}

function tell(event: Parameters<Listener>[0]): void {
  for (const listener of listeners) listener(event);
}

const plain = createClient<paths>({ baseUrl: "/" });

plain.use({
  onResponse({ response }) {
    tell(response.status === 401 ? "unauthorized" : "answered");
  },
  onError() {
    tell("offline");
    return new OfflineError();
  },
});

/** Typed by openapi.json. Every call is one of the public API. */
export const api = plain;

interface Answer<Data> {
  data?: Data;
  error?: unknown;
  response: Response;
}

/** Return the data of an answer. Raises ApiError for a refusal. */
export async function dataOf<Data>(asked: Promise<Answer<Data>>): Promise<Data> {
  const { data, error, response } = await asked;
  if (!response.ok) {
    const problem = error && typeof error === "object" ? (error as Problem) : undefined;
    throw new ApiError(response.status, problem, response.headers.get("x-request-id") ?? undefined);
  }
  return data as Data;
}
