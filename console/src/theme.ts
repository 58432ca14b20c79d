// Dark or light as the system is set, unless the user chooses.
import { effect, signal } from "@preact/signals";

export type Theme = "system" | "light" | "dark";
const name = "carve.theme";
const read = (): Theme => {
  const found = localStorage.getItem(name);
  return found === "light" || found === "dark" ? found : "system";
};

export const theme = signal<Theme>(read());

effect(() => {
  document.documentElement.dataset.theme = theme.value;
  if (theme.value === "system") localStorage.removeItem(name);
  else localStorage.setItem(name, theme.value);
});
