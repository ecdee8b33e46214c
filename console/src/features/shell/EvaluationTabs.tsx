import { Link, Outlet } from "@tanstack/react-router";
import { strings } from "./strings";

const TABS = [
  { to: "/evaluation/tasks", label: strings.tabs.tasks },
  { to: "/evaluation/evaluators", label: strings.tabs.evaluators },
  { to: "/evaluation/monitors", label: strings.tabs.monitors },
] as const;

/** The three rooms of the section Evaluation. */
export function EvaluationTabs() {
  return (
    <>
      <nav aria-label={strings.sections.evaluation} style={{ marginBottom: 16, display: "flex" }}>
        {TABS.map(({ to, label }) => (
          <Link key={to} to={to} className="tab-link">
            {label}
          </Link>
        ))}
      </nav>
      <Outlet />
    </>
  );
}
