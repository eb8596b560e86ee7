// Entry point of the app.
import "./style/tokens.css";
import "./style/base.css";
import { mount } from "svelte";
import App from "./App.svelte";
import "./state/theme.svelte";

mount(App, { target: document.body });
