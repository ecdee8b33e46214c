export const strings = {
  title: "Sign in to Scorewright",
  text: "Open the login link that the server printed when it started, or enter an API key. The command “scorewright serve --login-link” prints a new link.",
  label: "API key",
  submit: "Sign in",
  missing: "Enter an API key.",
  unreachable: "The server does not answer. Try again when it runs.",
};
