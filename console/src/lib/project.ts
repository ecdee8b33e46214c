/** The project whose things are shown, until there is a switch. */
export const PROJECT = "default";
