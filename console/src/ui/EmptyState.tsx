import { Stack, Text, Title } from "@mantine/core";
import type { ReactNode } from "react";

interface Props {
  title: string;
  text: string;
  /** Whether the title is the page's. */
  isPage?: boolean;
  children?: ReactNode;
}

/** Nothing here, and what could be. */
export function EmptyState({ title, text, isPage = false, children }: Props) {
  return (
    <Stack className="surface" p="xl" align="flex-start" gap="sm">
      <Title order={isPage ? 1 : 2}>{title}</Title>
      <Text c="dimmed" maw="72ch">
        {text}
      </Text>
      {children}
    </Stack>
  );
}
