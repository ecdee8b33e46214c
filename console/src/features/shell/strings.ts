const overApi = "Until then it is done over the API, which /openapi.json describes.";

export const strings = {
  skip: "Skip to content",
  sections: {
    evaluation: "Evaluation",
    traces: "Traces",
    datasets: "Datasets",
    settings: "Settings",
  },
  tabs: { tasks: "Evaluation Task", evaluators: "Evaluator", monitors: "Monitor" },
  scheme: { label: "Colours", auto: "System", light: "Light", dark: "Dark" },
  menu: "Open navigation",
  signOut: "Sign out",
  lost: "Connection lost. Reconnecting…",
  notYet: {
    tasks: {
      title: "Tasks come to the console later",
      text: `A task runs evaluators over traces, conversations, logs or a dataset. ${overApi}`,
    },
    monitors: {
      title: "Monitors come later",
      text: "A monitor judges live traffic. It is not there yet, over the API neither.",
    },
    traces: {
      title: "Traces come to the console later",
      text: `Send them by OTLP to /v1/traces. ${overApi}`,
    },
    datasets: {
      title: "Datasets come to the console later",
      text: `A dataset holds rows with what is right. ${overApi}`,
    },
    settings: { title: "Settings come to the console later", text: overApi },
  },
};
