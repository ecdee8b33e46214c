import { Button, Center, PasswordInput, Stack, Text, Title } from "@mantine/core";
import { useQueryClient } from "@tanstack/react-query";
import { type FormEvent, useState } from "react";
import { ApiError, api, dataOf } from "../../api/client";
import { strings } from "./strings";

/** Takes a key; what comes back is a cookie that no script reads. */
export function SignIn({ onDone }: { onDone: () => void }) {
  const [key, setKey] = useState("");
  const [problem, setProblem] = useState<string>();
  const [isBusy, setBusy] = useState(false);
  const queries = useQueryClient();

  async function submit(event: FormEvent) {
    event.preventDefault();
    if (!key.trim()) return setProblem(strings.missing);
    setBusy(true);
    setProblem(undefined);
    try {
      await dataOf(api.POST("/api/v1/session", { body: { token: key.trim() } }));
      onDone();
      await queries.invalidateQueries();
    } catch (error) {
      setProblem(error instanceof ApiError ? error.message : strings.unreachable);
    } finally {
      setBusy(false);
    }
  }

  return (
    <Center component="main" mih="100vh" p="md">
      <form onSubmit={submit} className="surface" style={{ padding: 24, width: 420 }} noValidate>
        <Stack gap="md">
          <Title order={1}>{strings.title}</Title>
          <Text c="dimmed">{strings.text}</Text>
          <PasswordInput
            label={strings.label}
            value={key}
            onChange={(event) => setKey(event.currentTarget.value)}
            error={problem}
            autoComplete="current-password"
            data-autofocus
          />
          <Button type="submit" loading={isBusy}>
            {strings.submit}
          </Button>
        </Stack>
      </form>
    </Center>
  );
}
