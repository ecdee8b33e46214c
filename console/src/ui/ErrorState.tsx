import { Button, Code, Stack, Text, Title } from "@mantine/core";
import { ApiError } from "../api/client";

interface Props {
  thing: string;
  error: unknown;
  retry: () => void;
}

/** Something could not be loaded: what, why, and the way to try again. */
export function ErrorState({ thing, error, retry }: Props) {
  const requestId = error instanceof ApiError ? error.requestId : undefined;
  return (
    <Stack className="surface" p="lg" align="flex-start" gap="sm" role="alert">
      <Title order={2}>Couldn't load {thing}</Title>
      <Text>{error instanceof Error ? error.message : String(error)}</Text>
      {requestId && (
        <Text size="sm" c="dimmed">
          Request <Code>{requestId}</Code>
        </Text>
      )}
      <Button variant="default" onClick={retry}>
        Retry
      </Button>
    </Stack>
  );
}
