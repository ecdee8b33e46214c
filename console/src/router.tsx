import {
  createRootRoute,
  createRoute,
  createRouter,
  lazyRouteComponent,
  Navigate,
} from "@tanstack/react-router";
import * as z from "zod/mini";
import { Shell } from "./features/shell/Shell";
import { strings } from "./features/shell/strings";
import { EmptyState } from "./ui/EmptyState";
import { ErrorState } from "./ui/ErrorState";
import { NotFound } from "./ui/NotFound";

const rootRoute = createRootRoute({ component: Shell, notFoundComponent: NotFound });

const home = createRoute({
  getParentRoute: () => rootRoute,
  path: "/",
  component: () => <Navigate to="/evaluation/evaluators" replace />,
});

const evaluation = createRoute({
  getParentRoute: () => rootRoute,
  path: "/evaluation",
  component: lazyRouteComponent(() => import("./features/shell/EvaluationTabs"), "EvaluationTabs"),
});

const evaluationHome = createRoute({
  getParentRoute: () => evaluation,
  path: "/",
  component: () => <Navigate to="/evaluation/evaluators" replace />,
});

const search = z.object({
  q: z.optional(z.string()),
  tag: z.optional(z.array(z.string())),
  language: z.optional(z.enum(["python", "javascript", "typescript"])),
  view: z.optional(z.enum(["cards", "table"])),
  deleted: z.optional(z.boolean()),
});

const evaluators = createRoute({
  getParentRoute: () => evaluation,
  path: "/evaluators",
  // What somebody wrote into the address and we do not know is left out, not refused.
  validateSearch: (given) => search.safeParse(given).data ?? {},
  component: lazyRouteComponent(
    () => import("./features/evaluators/EvaluatorList"),
    "EvaluatorList",
  ),
});

function notYet(words: { title: string; text: string }) {
  return { component: () => <EmptyState title={words.title} text={words.text} isPage /> };
}

const tasks = createRoute({
  getParentRoute: () => evaluation,
  path: "/tasks",
  ...notYet(strings.notYet.tasks),
});
const monitors = createRoute({
  getParentRoute: () => evaluation,
  path: "/monitors",
  ...notYet(strings.notYet.monitors),
});
const traces = createRoute({
  getParentRoute: () => rootRoute,
  path: "/traces",
  ...notYet(strings.notYet.traces),
});
const datasets = createRoute({
  getParentRoute: () => rootRoute,
  path: "/datasets",
  ...notYet(strings.notYet.datasets),
});
const settings = createRoute({
  getParentRoute: () => rootRoute,
  path: "/settings",
  ...notYet(strings.notYet.settings),
});

const tree = rootRoute.addChildren([
  home,
  evaluation.addChildren([evaluationHome, evaluators, tasks, monitors]),
  traces,
  datasets,
  settings,
]);

export const router = createRouter({
  routeTree: tree,
  defaultPreload: "intent",
  defaultErrorComponent: ({ error, reset }) => (
    <ErrorState thing="this page" error={error} retry={reset} />
  ),
});

declare module "@tanstack/react-router" {
  interface Register {
    router: typeof router;
  }
}
