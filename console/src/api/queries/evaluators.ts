import { infiniteQueryOptions } from "@tanstack/react-query";
import { api, dataOf, type Schema } from "../client";

export interface EvaluatorFilter {
  search?: string | undefined;
  tag?: string[] | undefined;
  language?: Schema["Evaluator"]["language"] | undefined;
  deleted?: boolean | undefined;
}

export const evaluatorKeys = { all: (project: string) => ["evaluators", project] as const };

/** The evaluators of a project that a filter lets through, page by page. */
export function evaluatorList(project: string, filter: EvaluatorFilter) {
  return infiniteQueryOptions({
    queryKey: [...evaluatorKeys.all(project), "list", filter],
    initialPageParam: null as string | null,
    queryFn: ({ pageParam, signal }) =>
      dataOf(
        api.GET("/api/v1/projects/{project}/evaluators", {
          params: {
            path: { project },
            query: { ...filter, cursor: pageParam, limit: 24 },
          },
          signal,
        }),
      ),
    getNextPageParam: (page) => page.next_cursor,
  });
}
