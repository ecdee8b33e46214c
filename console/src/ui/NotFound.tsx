import { Anchor } from "@mantine/core";
import { Link } from "@tanstack/react-router";
import { EmptyState } from "./EmptyState";

/** An address that is none of ours. */
export function NotFound() {
  return (
    <EmptyState title="No such page" text="The address is wrong, or what was there is gone." isPage>
      <Anchor component={Link} to="/evaluation/evaluators">
        Go to the evaluators
      </Anchor>
    </EmptyState>
  );
}
