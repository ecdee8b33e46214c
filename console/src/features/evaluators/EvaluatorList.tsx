import {
  Badge,
  Button,
  Group,
  SimpleGrid,
  Skeleton,
  Stack,
  Text,
  TextInput,
  Title,
} from "@mantine/core";
import { useDebouncedCallback } from "@mantine/hooks";
import { IconSearch } from "@tabler/icons-react";
import { useInfiniteQuery } from "@tanstack/react-query";
import { getRouteApi } from "@tanstack/react-router";
import type { Schema } from "../../api/client";
import { evaluatorList } from "../../api/queries/evaluators";
import { PROJECT } from "../../lib/project";
import { EmptyState } from "../../ui/EmptyState";
import { ErrorState } from "../../ui/ErrorState";
import { strings } from "./strings";

const route = getRouteApi("/evaluation/evaluators");
const SEARCH_MS = 250;

/** S1: what evaluators there are. */
export function EvaluatorList() {
  const filter = route.useSearch();
  const navigate = route.useNavigate();
  const query = useInfiniteQuery(
    evaluatorList(PROJECT, { search: filter.q, tag: filter.tag, language: filter.language }),
  );
  const search = useDebouncedCallback((q: string) => {
    navigate({ search: (before) => ({ ...before, q: q || undefined }), replace: true });
  }, SEARCH_MS);
  const found = query.data?.pages.flatMap((page) => page.items) ?? [];
  const isFiltered = Boolean(filter.q || filter.tag?.length || filter.language);

  return (
    <Stack gap="md">
      <Title order={1}>{strings.title}</Title>
      <TextInput
        aria-label={strings.search}
        placeholder={strings.search}
        defaultValue={filter.q ?? ""}
        key={isFiltered ? "filtered" : "all"}
        onChange={(event) => search(event.currentTarget.value)}
        leftSection={<IconSearch size={16} stroke={1.75} aria-hidden />}
        maw={420}
      />
      {query.isPending && <Skeletons />}
      {query.isError && (
        <ErrorState thing="the evaluators" error={query.error} retry={() => query.refetch()} />
      )}
      {query.isSuccess && found.length === 0 && !isFiltered && (
        <EmptyState title={strings.none.title} text={strings.none.text} />
      )}
      {query.isSuccess && found.length === 0 && isFiltered && (
        <EmptyState title={strings.noMatch} text={strings.noMatchText}>
          <Button variant="default" onClick={() => navigate({ search: {} })}>
            {strings.clear}
          </Button>
        </EmptyState>
      )}
      <SimpleGrid
        component="ul"
        cols={{ base: 1, sm: 2, lg: 3 }}
        p={0}
        m={0}
        style={{ listStyle: "none" }}
      >
        {found.map((one) => (
          <EvaluatorCard key={one.id} evaluator={one} />
        ))}
      </SimpleGrid>
      {query.hasNextPage && (
        <Button
          variant="default"
          loading={query.isFetchingNextPage}
          onClick={() => query.fetchNextPage()}
        >
          {strings.more}
        </Button>
      )}
    </Stack>
  );
}

function Skeletons() {
  return (
    <SimpleGrid cols={{ base: 1, sm: 2, lg: 3 }} aria-busy>
      {["a", "b", "c"].map((key) => (
        <Skeleton key={key} h={128} />
      ))}
    </SimpleGrid>
  );
}

function EvaluatorCard({ evaluator }: { evaluator: Schema["EvaluatorEntry"] }) {
  return (
    <Stack component="li" className="surface" p="md" gap="xs">
      <Title order={2}>{evaluator.display_name ?? evaluator.name}</Title>
      <Text className="mono" c="dimmed">
        {evaluator.name}
      </Text>
      <Text lineClamp={2}>{evaluator.description}</Text>
      <Group gap={4}>
        <Badge>{evaluator.type}</Badge>
        <Badge>{evaluator.language}</Badge>
        <Badge>{evaluator.level}</Badge>
        {evaluator.tags.map((tag) => (
          <Badge key={tag} variant="outline">
            {tag}
          </Badge>
        ))}
      </Group>
    </Stack>
  );
}
