import js from "@eslint/js";
import globals from "globals";

// Paths are relative to the folder that eslint runs in, which is that of the repository.
export default [
  { ignores: [".venv/", "build/", "site/"] },
  js.configs.recommended,
  {
    rules: {
      "max-lines-per-function": ["error", 60],
      "no-unused-vars": ["error", { argsIgnorePattern: "^_" }],
      "prefer-const": "error",
      eqeqeq: "error",
    },
  },
  {
    files: ["pages/**/*.js", "deploy/**/*.js"],
    languageOptions: { globals: globals.browser },
  },
  { files: ["tests/**/*.js"], languageOptions: { globals: globals.node } },
];
