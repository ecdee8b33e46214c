import { Button, Group, SegmentedControl, useMantineColorScheme } from "@mantine/core";
import { useQueryClient } from "@tanstack/react-query";
import { api } from "../../api/client";
import { strings } from "./strings";

/** The colours, and the way out. */
export function UserMenu({ onSignedOut }: { onSignedOut: () => void }) {
  const { colorScheme, setColorScheme } = useMantineColorScheme();
  const queries = useQueryClient();

  async function signOut() {
    await api.DELETE("/api/v1/session");
    queries.clear();
    onSignedOut();
  }

  return (
    <Group gap="xs" wrap="nowrap">
      <SegmentedControl
        size="xs"
        aria-label={strings.scheme.label}
        value={colorScheme}
        onChange={(value) => setColorScheme(value as typeof colorScheme)}
        data={[
          { value: "auto", label: strings.scheme.auto },
          { value: "light", label: strings.scheme.light },
          { value: "dark", label: strings.scheme.dark },
        ]}
      />
      <Button variant="subtle" size="xs" onClick={signOut}>
        {strings.signOut}
      </Button>
    </Group>
  );
}
