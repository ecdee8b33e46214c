import { AppShell, Burger, Group, Text } from "@mantine/core";
import { useDisclosure } from "@mantine/hooks";
import { IconCheckupList, IconDatabase, IconSettings, IconTimeline } from "@tabler/icons-react";
import { Link, Outlet } from "@tanstack/react-router";
import { useEffect, useState } from "react";
import { listen } from "../../api/client";
import { SignIn } from "../session/SignIn";
import { Offline } from "./Offline";
import { strings } from "./strings";
import { UserMenu } from "./UserMenu";

const SECTIONS = [
  { to: "/evaluation", label: strings.sections.evaluation, Icon: IconCheckupList },
  { to: "/traces", label: strings.sections.traces, Icon: IconTimeline },
  { to: "/datasets", label: strings.sections.datasets, Icon: IconDatabase },
  { to: "/settings", label: strings.sections.settings, Icon: IconSettings },
] as const;

/** What is around every screen: or, for whom the server does not know, the way in. */
export function Shell() {
  const [isOpen, { toggle, close }] = useDisclosure();
  const [isSignedOut, setSignedOut] = useState(false);

  useEffect(() => listen((event) => event === "unauthorized" && setSignedOut(true)), []);

  if (isSignedOut) return <SignIn onDone={() => setSignedOut(false)} />;
  return (
    <AppShell
      header={{ height: 48 }}
      navbar={{ width: 208, breakpoint: "md", collapsed: { mobile: !isOpen } }}
      padding="lg"
    >
      <a className="skip-link" href="#content">
        {strings.skip}
      </a>
      <AppShell.Header px="md" bg="var(--sw-surface)">
        <Group h="100%" justify="space-between" wrap="nowrap">
          <Group gap="sm" wrap="nowrap">
            <Burger
              opened={isOpen}
              onClick={toggle}
              hiddenFrom="md"
              size="sm"
              aria-label={strings.menu}
            />
            <img src="/favicon.svg" alt="" width={22} height={22} />
            <Text fw={600}>Scorewright</Text>
          </Group>
          <UserMenu onSignedOut={() => setSignedOut(true)} />
        </Group>
      </AppShell.Header>
      <AppShell.Navbar p="xs" bg="var(--sw-surface)">
        <nav aria-label="Sections">
          {SECTIONS.map(({ to, label, Icon }) => (
            <Link key={to} to={to} className="nav-link" onClick={close}>
              <Icon size={16} stroke={1.75} aria-hidden />
              {label}
            </Link>
          ))}
        </nav>
      </AppShell.Navbar>
      <AppShell.Main id="content" tabIndex={-1}>
        <Offline />
        <Outlet />
      </AppShell.Main>
    </AppShell>
  );
}
