import { Alert } from "@mantine/core";
import { useQueryClient } from "@tanstack/react-query";
import { useEffect, useState } from "react";
import { listen } from "../../api/client";
import { strings } from "./strings";

const ASK_AGAIN_MS = 3_000;

/** Says that nobody answers, and asks until somebody does; what is on the screen is then asked for again. */
export function Offline() {
  const [isOffline, setOffline] = useState(false);
  const queries = useQueryClient();

  useEffect(() => listen((event) => setOffline(event === "offline")), []);
  useEffect(() => {
    if (!isOffline) return;
    const timer = setInterval(async () => {
      const answer = await fetch("/healthz").catch(() => undefined);
      if (!answer?.ok) return;
      setOffline(false);
      queries.invalidateQueries();
    }, ASK_AGAIN_MS);
    return () => clearInterval(timer);
  }, [isOffline, queries]);

  if (!isOffline) return null;
  return <Alert role="status" color="danger" variant="outline" mb="md" title={strings.lost} />;
}
